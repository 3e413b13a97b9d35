"""The grammar between brackets.

window  = "[" ( "NOW" | "RANGE" "UNBOUNDED" | range | "RANGE" extent "ON" column
              | "ROWS" count [ "SLIDE" count ]
              | "PARTITION" "BY" column { "," column } "ROWS" count [ range ]
              | "UNBOUNDED" [ "START" "AT" instant ] | "UNTIL" instant | "FROM" instant [ "UNTIL" instant ] ) "]"
range   = "RANGE" extent [ "SLIDE" extent [ "START" "AT" instant ] ]
extent  = number [ unit ]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import TokenType, exp

from thalweg.core.time import unit_ticks
from thalweg.cql.syntax import Extent, StreamWindow

if TYPE_CHECKING:
    from thalweg.cql.parser import CqlParser

FORMS = (
    "[RANGE t [SLIDE t]], [RANGE UNBOUNDED], [RANGE x ON column], [NOW], [ROWS n [SLIDE m]], "
    "[PARTITION BY columns ROWS n [RANGE t [SLIDE t]]], [UNBOUNDED START AT x], [UNTIL x], [FROM x UNTIL y]"
)


def parse_window(parser: CqlParser) -> StreamWindow | None:
    """The window at this point of the text, if there is one."""
    if not parser._match(TokenType.L_BRACKET):
        return None
    opening = parser._prev
    window = _parse_body(parser)
    if not parser._match(TokenType.R_BRACKET):
        parser.raise_error(
            f"the window is not closed: expected ], got {parser.got}",
            hint=f"window forms: {FORMS}",
        )
    window.update_positions(opening)
    window.meta["end"] = parser._prev.end
    return window


def _parse_body(parser: CqlParser) -> StreamWindow:
    if parser._match_text_seq("NOW"):
        return StreamWindow(kind="NOW")
    if parser._match_text_seq("RANGE"):
        return _parse_range_or_value(parser)
    if parser._match_text_seq("ROWS"):
        rows = _parse_count(parser, "ROWS")
        slide = _parse_count(parser, "SLIDE") if parser._match_text_seq("SLIDE") else None
        return StreamWindow(kind="ROWS", rows=rows, rows_slide=slide)
    if parser._match_text_seq("PARTITION", "BY") or parser._match(TokenType.PARTITION_BY):
        return _parse_partition(parser)
    if parser._match_text_seq("UNBOUNDED"):
        start = _parse_instant(parser) if parser._match_text_seq("START", "AT") else None
        return StreamWindow(kind="LANDMARK", start=start) if start else StreamWindow(kind="UNBOUNDED")
    if parser._match_text_seq("UNTIL"):
        return StreamWindow(kind="LANDMARK", end=_parse_instant(parser))
    if parser._match_text_seq("FROM"):
        start = _parse_instant(parser)
        end = _parse_instant(parser) if parser._match_text_seq("UNTIL") else None
        return StreamWindow(kind="LANDMARK", start=start, end=end)
    parser.raise_error(f"{parser.got} does not start a window", hint=f"window forms: {FORMS}")


def _parse_range_or_value(parser: CqlParser) -> StreamWindow:
    if parser._match_text_seq("UNBOUNDED"):
        return StreamWindow(kind="UNBOUNDED")
    extent = parse_extent(parser, "RANGE")
    if parser._match(TokenType.ON):
        return StreamWindow(kind="VALUE", range=extent, on=parser._parse_id_var())
    slide, origin = _parse_slide(parser)
    return StreamWindow(kind="RANGE", range=extent, slide=slide, origin=origin)


def _parse_slide(parser: CqlParser) -> tuple[Extent | None, exp.Expr | None]:
    if not parser._match_text_seq("SLIDE"):
        return None, None
    slide = parse_extent(parser, "SLIDE")
    return slide, _parse_instant(parser) if parser._match_text_seq("START", "AT") else None


def _parse_partition(parser: CqlParser) -> StreamWindow:
    keys = parser._parse_csv(lambda: parser._parse_id_var(any_token=False))
    if not keys:
        parser.raise_error("PARTITION BY wants a column")
    if not parser._match_text_seq("ROWS"):
        parser.raise_error(
            f"PARTITION BY wants ROWS n after its columns, got {parser.got}",
            hint="[PARTITION BY a, b ROWS 10]",
        )
    rows = _parse_count(parser, "ROWS")
    extent = slide = origin = None
    if parser._match_text_seq("RANGE"):
        extent = parse_extent(parser, "RANGE")
        slide, origin = _parse_slide(parser)
    return StreamWindow(kind="PARTITION", partition=keys, rows=rows, range=extent, slide=slide, origin=origin)


def _parse_number(parser: CqlParser, what: str) -> exp.Expr:
    negative = parser._match(TokenType.DASH)
    number = parser._parse_number()
    if number is None:
        parser.raise_error(f"{what} wants a number, got {parser.got}")
    return exp.Neg(this=number) if negative else number


def _parse_count(parser: CqlParser, what: str) -> exp.Expr:
    count = _parse_number(parser, what)
    if parser._curr and unit_ticks(parser._curr.text):
        parser.raise_error(f"{what} counts tuples, it takes no unit of time", hint="[RANGE 5 SECONDS] is by time")
    return count


def parse_extent(parser: CqlParser, what: str) -> Extent:
    """A number and perhaps a unit of time."""
    token = parser._curr
    number = _parse_number(parser, what)
    unit = None
    if parser._curr and parser._curr.token_type not in (TokenType.R_BRACKET, TokenType.ON):
        word = parser._curr.text
        if unit_ticks(word):
            unit = parser._parse_var(any_token=True, upper=True)
        elif word.upper() not in ("SLIDE", "START", "ON", "ROWS", "RATE") and parser._curr.token_type == TokenType.VAR:
            parser.raise_error(
                f"unknown unit of time {word}", hint="units: MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS"
            )
    return parser.expression(Extent(this=number, unit=unit), token=token)


def _parse_instant(parser: CqlParser) -> exp.Expr:
    return parser._parse_string() or _parse_number(parser, "a landmark")
