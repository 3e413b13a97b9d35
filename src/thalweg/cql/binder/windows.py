"""Window syntax to windows: units, columns and instants resolved against the stream."""

from __future__ import annotations

from sqlglot import exp

from thalweg.algebra.plan import Plan, Windowed
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange, Window
from thalweg.core.errors import DataError, WindowError
from thalweg.core.time import BEGINNING, FOREVER, SECOND, Clock, Instant, parse_time_of_day, parse_timestamp, unit_ticks
from thalweg.core.types import DataType
from thalweg.cql.binder.context import Context
from thalweg.cql.binder.scope import NameScope, ScopeColumn
from thalweg.cql.syntax import Extent, StreamWindow


def bind_window(context: Context, child: Plan, node: StreamWindow) -> Windowed:
    """The windowed plan."""
    with context.at(node):
        if not child.is_stream:
            raise WindowError(
                f"a window needs a stream, but {_what(child)}",
                hint="leave the window out, put it on the stream inside, or wrap the query in ISTREAM(...)",
            )
        return Windowed(child, _WindowBinder(context, child).bind(node))


class _WindowBinder:
    def __init__(self, context: Context, child: Plan) -> None:
        self.context = context
        self.child = child
        self.clock = child.clock or Clock.TICKS
        self.scope = NameScope.of(child, None)

    def bind(self, node: StreamWindow) -> Window:
        args = node.args
        match args["kind"]:
            case "NOW":
                return Now()
            case "UNBOUNDED":
                return Unbounded()
            case "RANGE":
                return self._range(node)
            case "ROWS":
                return Rows(self._count(args["rows"], "ROWS"), self._count(args.get("rows_slide"), "SLIDE"))
            case "PARTITION":
                keys = tuple(self._column(key).index for key in args["partition"])
                cut = self._range(node) if args.get("range") else None
                return PartitionedRows(keys, self._count(args["rows"], "ROWS"), cut)
            case "LANDMARK":
                return Landmark(self._instant(args.get("start"), BEGINNING), self._instant(args.get("end"), FOREVER))
            case _:
                return self._value_range(node)

    def _range(self, node: StreamWindow) -> Range:
        slide = node.args.get("slide")
        return Range(
            self._extent(node.args["range"], "RANGE"),
            self._extent(slide, "SLIDE") if slide is not None else 1,
            self._instant(node.args.get("origin"), 0),
        )

    def _value_range(self, node: StreamWindow) -> ValueRange:
        column = self._column(node.args["on"])
        extent: Extent = node.args["range"]
        with self.context.at(extent):
            if column.type is DataType.TIMESTAMP:
                return ValueRange(column.index, positive_ticks(extent, "RANGE", Clock.TIMESTAMPS), column.type)
            if extent.args.get("unit"):
                raise WindowError(f"{column.name} is {column.type}: RANGE takes a plain number, not a time")
            number = _number(extent.this)
            width = float(number) if column.type is DataType.DOUBLE or number != int(number) else int(number)
        with self.context.at(node.args["on"]):
            return ValueRange(column.index, width, column.type)

    def _column(self, node: exp.Expr) -> ScopeColumn:
        with self.context.at(node):
            return self.scope.resolve(node.name, None)

    def _count(self, node: exp.Expr | None, what: str) -> int:
        if node is None:
            return 1
        with self.context.at(node):
            number = _number(node)
            if number != int(number):
                raise WindowError(f"{what} counts whole tuples, got {number}")
            if number <= 0:
                raise WindowError(f"{what} must be greater than zero, got {int(number)}", hint=f"{what} 1 or more")
            return int(number)

    def _extent(self, node: Extent, what: str) -> int:
        with self.context.at(node):
            return positive_ticks(node, what, self.clock)

    def _today(self, text: str) -> Instant:
        if self.context.today is None:
            raise WindowError(
                f"'{text}' is a time of day, and the clock has not started, so the day is not known",
                hint=f"write the day too: '2026-01-31 {text}'",
            )
        return self.context.today

    def _instant(self, node: exp.Expr | None, default: Instant) -> Instant:
        if node is None:
            return default
        with self.context.at(node):
            if self.clock is Clock.TICKS:
                if isinstance(node, exp.Literal) and node.is_string:
                    raise WindowError(
                        f"this stream ticks in plain integers, so a landmark is a number, got '{node.name}'",
                        hint="declare the stream with TIMESTAMP BY column to use timestamps",
                    )
                return int(_number(node))
            if not isinstance(node, exp.Literal) or not node.is_string:
                raise WindowError(f"a landmark is a timestamp here, got {node.sql()}", hint="'2026-01-31 07:00:00'")
            of_day = parse_time_of_day(node.name)
            if of_day is not None:
                return self._today(node.name) + of_day
            try:
                return parse_timestamp(node.name)
            except DataError as error:
                raise WindowError(error.message, hint=error.hint) from None


def extent_ticks(node: Extent, what: str, clock: Clock) -> int:
    """The ticks of a length of time: plain integers, or microseconds with seconds as the default unit."""
    number, unit = _number(node.this), node.args.get("unit")
    if clock is Clock.TICKS and unit is not None:
        raise WindowError(
            f"this stream ticks in plain integers, so {what} takes no unit, got {unit.name}",
            hint="declare the stream with TIMESTAMP BY column, or leave the unit out",
        )
    scale = 1 if clock is Clock.TICKS else (unit_ticks(unit.name) or SECOND) if unit is not None else SECOND
    ticks = number * scale
    if ticks != round(ticks):
        finest = "this stream ticks in whole numbers" if clock is Clock.TICKS else "the finest unit is a MICROSECOND"
        raise WindowError(f"{what} {number} is finer than a tick", hint=finest)
    return round(ticks)


def positive_ticks(node: Extent, what: str, clock: Clock) -> int:
    """As `extent_ticks`, and more than nothing."""
    ticks = extent_ticks(node, what, clock)
    if ticks <= 0:
        raise WindowError(
            f"{what} must be greater than zero, got {_number(node.this)}",
            hint="[NOW] is the shortest window; no window at all is unbounded",
        )
    return ticks


def _number(node: exp.Expr) -> float | int:
    if isinstance(node, exp.Neg):
        return -_number(node.this)
    text = node.name
    return int(text) if text.isdigit() else float(text)


def _what(plan: Plan) -> str:
    name = plan.detail if plan.label in ("RelationScan", "NrrScan") else None
    return f"{name} is a table" if name else f"{plan.label} gives a relation"
