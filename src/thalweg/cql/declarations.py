"""The grammar of CREATE STREAM, CREATE RELATION, CREATE NRR, CREATE VIEW and REGISTER QUERY."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import TokenType, exp

from thalweg.core.time import unit_ticks
from thalweg.core.types import TYPE_NAMES
from thalweg.cql.syntax import ColumnDeclaration, CreateRelation, CreateStream, CreateView, Extent, Rate, RegisterQuery
from thalweg.cql.window_syntax import parse_extent

if TYPE_CHECKING:
    from thalweg.cql.parser import CqlParser


def parse_create(parser: CqlParser) -> exp.Expr:
    """What follows CREATE."""
    if parser._match_text_seq("STREAM"):
        return _parse_stream(parser)
    if parser._match_text_seq("RELATION"):
        return _parse_relation(parser, retroactive=True)
    if parser._match_text_seq("NRR"):
        return _parse_relation(parser, retroactive=False)
    if parser._match_text_seq("VIEW"):
        return _parse_view(parser)
    parser.raise_error(
        f"cannot CREATE {parser.got}",
        hint="CREATE STREAM, CREATE RELATION, CREATE NRR or CREATE VIEW",
    )


def parse_register(parser: CqlParser) -> RegisterQuery:
    """What follows REGISTER."""
    if not parser._match_text_seq("QUERY"):
        parser.raise_error("REGISTER wants QUERY", hint="REGISTER QUERY name AS SELECT ...")
    name = _parse_name(parser, "query")
    return parser.expression(RegisterQuery(this=name, query=_parse_as_query(parser)))


def _parse_name(parser: CqlParser, what: str) -> exp.Expr:
    name = parser._parse_id_var(any_token=False)
    if name is None:
        parser.raise_error(f"expected the {what}'s name, got {parser.got}")
    return name


def _parse_as_query(parser: CqlParser) -> exp.Expr:
    if not parser._match(TokenType.ALIAS):
        parser.raise_error(f"expected AS and a query, got {parser.got}")
    query = parser.parse_query()
    if query is None:
        parser.raise_error(f"expected a query after AS, got {parser.got}")
    return query


def _parse_stream(parser: CqlParser) -> CreateStream:
    name = _parse_name(parser, "stream")
    columns, key = _parse_columns(parser)
    if key:
        parser.raise_error("a stream has no primary key", hint="a table that changes is a RELATION or an NRR")
    timestamp = lateness = rate = None
    while parser._curr:
        if parser._match_text_seq("TIMESTAMP", "BY"):
            timestamp = _parse_name(parser, "timestamp column")
        elif parser._match_text_seq("LATENESS"):
            lateness = parse_extent(parser, "LATENESS")
        elif parser._match_text_seq("RATE"):
            rate = _parse_rate(parser)
        else:
            parser.raise_error(
                f"unexpected {parser._curr.text}",
                hint="a stream may end with TIMESTAMP BY column, LATENESS extent and RATE rows PER extent",
            )
    stream = CreateStream(this=name, columns=columns, timestamp=timestamp, lateness=lateness, rate=rate)
    return parser.expression(stream)


def _parse_rate(parser: CqlParser) -> Rate:
    """`1000 PER SECOND`, `3 PER 2 MINUTES`, or `5`: per second, or per tick."""
    rows = _parse_count(parser, "RATE")
    unit = _parse_unit(parser) if parser._match_text_seq("PER") else None
    return parser.expression(Rate(this=rows, per=unit))


def _parse_unit(parser: CqlParser) -> exp.Expr:
    """SECOND stands for 1 SECOND."""
    if parser._curr and unit_ticks(parser._curr.text):
        return parser.expression(Extent(this=exp.Literal.number(1), unit=parser._parse_var(any_token=True, upper=True)))
    return parse_extent(parser, "PER")


def _parse_count(parser: CqlParser, what: str) -> exp.Expr:
    number = parser._parse_number()
    if number is None:
        parser.raise_error(f"{what} wants a number, got {parser.got}")
    return number


def _parse_relation(parser: CqlParser, retroactive: bool) -> CreateRelation:
    name = _parse_name(parser, "relation")
    columns, key = _parse_columns(parser)
    rows = None
    if parser._match_text_seq("ROWS"):
        rows = _parse_count(parser, "ROWS")
    relation = CreateRelation(this=name, columns=columns, key=key, retroactive=retroactive, rows=rows)
    return parser.expression(relation)


def _parse_columns(parser: CqlParser) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """`(name TYPE [PRIMARY KEY], ..., [PRIMARY KEY (names)])`: the columns and the key's names."""
    if not parser._match(TokenType.L_PAREN):
        parser.raise_error(f"expected ( and columns, got {parser.got}", hint="(a INT, b STRING, ...)")
    columns: list[exp.Expr] = []
    key: list[exp.Expr] = []
    while True:
        new: list[exp.Expr] = []
        if _match_primary_key(parser):
            new = parser._parse_wrapped_csv(lambda: parser._parse_id_var(any_token=False))
        else:
            column = _parse_column(parser)
            columns.append(column)
            if column.args.get("primary"):
                new = [column.this]
        if key and new:
            parser.raise_error(
                "a relation has one primary key", parser._prev, hint="PRIMARY KEY (a, b) has two columns"
            )
        key += new
        if not parser._match(TokenType.COMMA):
            break
    if not parser._match(TokenType.R_PAREN):
        parser.raise_error(f"expected , or ) after a column, got {parser.got}")
    return columns, key


def _parse_column(parser: CqlParser) -> ColumnDeclaration:
    name = _parse_name(parser, "column")
    token = parser._curr
    type_name = " ".join(token.text.upper().split()) if token else ""
    if type_name not in TYPE_NAMES:
        parser.raise_error(
            f"expected a type for column {name.name}, got {parser.got}",
            hint="types: BOOLEAN, INT, DOUBLE, STRING, TIMESTAMP, INTERVAL",
        )
    parser._advance()
    if parser._match(TokenType.L_PAREN):  # VARCHAR(20): the length is accepted and not enforced
        parser._parse_number()
        parser._match_r_paren()
    primary = _match_primary_key(parser)
    distinct = _parse_count(parser, "DISTINCT") if parser._match(TokenType.DISTINCT) else None
    primary = primary or _match_primary_key(parser)
    declaration = ColumnDeclaration(this=name, type_name=type_name, primary=primary, distinct=distinct)
    return parser.expression(declaration, token=token)


def _match_primary_key(parser: CqlParser) -> bool:
    return parser._match(TokenType.PRIMARY_KEY) or parser._match_text_seq("PRIMARY", "KEY")


def _parse_view(parser: CqlParser) -> CreateView:
    name = _parse_name(parser, "view")
    columns = None
    if parser._match(TokenType.L_PAREN, advance=False):
        columns = parser._parse_wrapped_csv(lambda: parser._parse_id_var(any_token=False))
    return parser.expression(CreateView(this=name, columns=columns, query=_parse_as_query(parser)))
