"""State bounds: whether the state of an operator is bounded, and by what.

`extent` says how much of a plan's output can be alive at once; the bound of an operator is the sum of the extents of
its buffers' contents. A bound "per value" or "per group" depends on the number of values, but does not grow with the
length of a stream. The results of a join are not part of its state: they are the answer, or the state of the operator
above. The bound of a window says how much the buffers above it can hold, even if the window itself stores nothing.
Contents that an operator has in two buffers are counted once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    MultiJoin,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    RStream,
    Select,
    SemiJoin,
    StreamScan,
    TopK,
    Union,
    Windowed,
)
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange
from thalweg.core.time import BEGINNING, FOREVER, Clock, format_duration
from thalweg.core.types import DataType
from thalweg.patterns.buffer_kinds import BufferChoice, BufferContents
from thalweg.patterns.derive import Annotated


@dataclass(frozen=True)
class StateBound:
    """A bound in words; `grows_with` names the streams that make the state grow without limit."""

    text: str
    grows_with: tuple[str, ...] = ()

    @property
    def bounded(self) -> bool:
        """Whether the state stays finite however long the streams are."""
        return not self.grows_with

    @property
    def way_out(self) -> str | None:
        """What the user can do to bound the state; None if it is bounded."""
        if self.bounded:
            return None
        return f"put a window such as [RANGE ...] or [ROWS n] on {' and '.join(self.grows_with)}"


NO_STATE = StateBound("no state")


def bound(plan: Annotated, buffers: Iterable[BufferChoice]) -> StateBound:
    """The bound of an operator's state, given the buffers chosen for it."""
    if isinstance(plan.node, Windowed | RelationScan):
        contents = extent(plan.node)
        return contents if contents.bounded else NO_STATE
    by_contents = {choice.holds: _contents_bound(plan.node, choice.holds) for choice in buffers}
    return _sum(list(by_contents.values())) if by_contents else NO_STATE


def _contents_bound(node: Plan, contents: BufferContents) -> StateBound:
    match contents:
        case BufferContents.LEFT | BufferContents.INPUT | BufferContents.BEFORE:
            return extent(node.children[0])
        case BufferContents.RIGHT:
            return extent(node.children[1])
        case BufferContents.EACH:
            return _sum([extent(child) for child in node.children])
        case BufferContents.RESULT | BufferContents.WINDOW | BufferContents.WAITING:
            return extent(node)
        case BufferContents.PARTNERS:
            return StateBound("one row per distinct value")
        case BufferContents.DUPLICATES:
            return StateBound("two rows per distinct value")
        case BufferContents.ARGUMENTS:
            return StateBound("one entry per distinct argument of a group")
        case _:
            assert_never(contents)


def extent(plan: Plan) -> StateBound:
    """How much of a plan's output can be alive at one instant."""
    match plan:
        case StreamScan(source):
            return _growing(f"stream {source.name}")
        case RelationScan(source):
            return StateBound(f"size of {source.kind} {source.name}")
        case Windowed():
            return _window_extent(plan)
        case IStream() | DStream() | RStream():  # emitted tuples stay
            return _growing(f"the output of {plan.label}")
        case Select(child) | Project(child):  # at most one row for each input row
            return extent(child)
        case NrrJoin(left) | SemiJoin(left) | Intersect(left) | Negation(left):  # each row is a left row
            return extent(left)
        case Union(left, right):
            return _sum([extent(left), extent(right)])
        case Join(left, right):
            return _product([extent(left), extent(right)])
        case MultiJoin(inputs):
            return _product([extent(child) for child in inputs])
        case Distinct():
            return StateBound("one row per distinct value")
        case GroupBy(keys=keys):
            return StateBound("one row per group" if keys else "one row")
        case TopK(limit=limit):
            return StateBound(_count(limit, "row"))
        case _:
            assert_never(plan)


def _window_extent(plan: Windowed) -> StateBound:
    clock, names = plan.clock or Clock.TICKS, plan.schema.names
    match plan.window:
        case Range() as window:
            return StateBound(_last(window, clock))
        case Now():
            return StateBound("tuples of one instant")
        case Rows(count, slide):
            return StateBound(_count(count, "tuple") + " and a slide" * (slide > 1))
        case PartitionedRows(keys, count, cut):
            text = f"{_count(count, 'tuple')} per value of {', '.join(names[k] for k in keys)}"
            return StateBound(f"{text}, {_last(cut, clock)}" if cut else text)
        case ValueRange(column) as window:
            width = format_duration(int(window.width)) if window.type is DataType.TIMESTAMP else window.width
            return StateBound(f"tuples within {width} of the greatest {names[column]}")
        case Landmark(start, end) if end < FOREVER:
            first = "" if start <= BEGINNING else f"from {clock.show(start)} "
            return StateBound(f"tuples {first}until {clock.show(end)}")
        case Landmark() | Unbounded():
            return extent(plan.child)
        case _:
            assert_never(plan.window)


def _last(window: Range, clock: Clock) -> str:
    """The range in words; with a slide, tuples that wait for the next slide come on top."""
    width = _count(window.width, "tick") if clock is Clock.TICKS else clock.show_extent(window.width)
    return f"tuples of the last {width}" + " and a slide" * (window.slide > 1)


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _growing(*names: str) -> StateBound:
    unique = tuple(dict.fromkeys(names))
    return StateBound(f"unbounded: grows with {' and '.join(unique)}", unique)


def _sum(parts: list[StateBound]) -> StateBound:
    growing = [name for part in parts for name in part.grows_with]
    if growing:
        return _growing(*growing)
    texts = [part.text for part in parts]
    times = {text: texts.count(text) for text in texts}
    return StateBound(" + ".join(f"{n} x {text}" if n > 1 else text for text, n in times.items()))


def _product(parts: list[StateBound]) -> StateBound:
    growing = [name for part in parts for name in part.grows_with]
    what = "pairs" if len(parts) == 2 else "combinations"
    return (
        _growing(*growing) if growing else StateBound(f"{what} of {' and '.join(f'({part.text})' for part in parts)}")
    )
