"""State bounds: whether what an operator keeps is bounded, and by what.

`extent` says how much of a plan's output can be alive at once; the bound of an operator is the extent of all that its
buffers hold. A bound "per value" or "per group" is as large as the values are many, but does not grow with the length
of a stream. The results of a join are not counted as its state: they are the answer, or the state of whoever keeps
them. The bound of a window, be it that it stores its tuples, says how much the buffers above it can hold. What is held
in two buffers of an operator is counted once: what grows, grows with the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
from thalweg.core.errors import PlanError
from thalweg.core.time import BEGINNING, FOREVER, Clock, format_duration
from thalweg.core.types import DataType
from thalweg.patterns.buffers import BufferChoice, Holds
from thalweg.patterns.derive import Annotated


@dataclass(frozen=True)
class Bound:
    """How much may be held: `text` in words; `grows_with` names the streams that make it grow without end."""

    text: str
    grows_with: tuple[str, ...] = ()

    @property
    def bounded(self) -> bool:
        """Whether it stays finite however long the streams are."""
        return not self.grows_with

    @property
    def way_out(self) -> str | None:
        """What would bound it; None if it is bounded."""
        if self.bounded:
            return None
        return f"put a window such as [RANGE ...] or [ROWS n] on {' and '.join(self.grows_with)}"


NO_STATE = Bound("no state")


def bound(plan: Annotated, buffers: Iterable[BufferChoice]) -> Bound:
    """The bound of an operator's state, given the buffers chosen for it."""
    if isinstance(plan.node, Windowed | RelationScan):
        contents = extent(plan.node)
        return contents if contents.bounded else NO_STATE
    held = {choice.holds: _held(plan.node, choice.holds) for choice in buffers}
    return _sum(list(held.values())) if held else NO_STATE


def _held(node: Plan, holds: Holds) -> Bound:
    match holds:
        case Holds.LEFT | Holds.INPUT | Holds.BEFORE:
            return extent(node.children[0])
        case Holds.RIGHT:
            return extent(node.children[1])
        case Holds.EACH:
            return _sum([extent(child) for child in node.children])
        case Holds.RESULT | Holds.WINDOW | Holds.WAITING:
            return extent(node)
        case Holds.PARTNERS:
            return Bound("one row per distinct value")
        case Holds.DUPLICATES:
            return Bound("two rows per distinct value")
        case Holds.ARGUMENTS:
            return Bound("one entry per distinct argument of a group")


def extent(plan: Plan) -> Bound:
    """How much of a plan's output can be alive at one instant."""
    match plan:
        case StreamScan(source):
            return _growing(f"stream {source.name}")
        case RelationScan(source):
            return Bound(f"size of {source.kind} {source.name}")
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
            return Bound("one row per distinct value")
        case GroupBy(keys=keys):
            return Bound("one row per group" if keys else "one row")
        case TopK(limit=limit):
            return Bound(_count(limit, "row"))
    raise PlanError(f"no rule bounds {plan.label}")


def _window_extent(plan: Windowed) -> Bound:
    clock, names = plan.clock or Clock.TICKS, plan.schema.names
    match plan.window:
        case Range() as window:
            return Bound(_last(window, clock))
        case Now():
            return Bound("tuples of one instant")
        case Rows(count, slide):
            return Bound(_count(count, "tuple") + " and a slide" * (slide > 1))
        case PartitionedRows(keys, count, cut):
            text = f"{_count(count, 'tuple')} per value of {', '.join(names[k] for k in keys)}"
            return Bound(f"{text}, {_last(cut, clock)}" if cut else text)
        case ValueRange(column) as window:
            width = format_duration(int(window.width)) if window.type is DataType.TIMESTAMP else window.width
            return Bound(f"tuples within {width} of the greatest {names[column]}")
        case Landmark(start, end) if end < FOREVER:
            first = "" if start <= BEGINNING else f"from {clock.show(start)} "
            return Bound(f"tuples {first}until {clock.show(end)}")
        case Landmark() | Unbounded():
            return extent(plan.child)
    raise PlanError(f"no rule bounds the window {plan.detail}")


def _last(window: Range, clock: Clock) -> str:
    """The range; a sliding step adds the tuples that wait for it."""
    width = _count(window.width, "tick") if clock is Clock.TICKS else clock.show_extent(window.width)
    return f"tuples of the last {width}" + " and a slide" * (window.slide > 1)


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _growing(*names: str) -> Bound:
    unique = tuple(dict.fromkeys(names))
    return Bound(f"unbounded: grows with {' and '.join(unique)}", unique)


def _sum(parts: list[Bound]) -> Bound:
    growing = [name for part in parts for name in part.grows_with]
    if growing:
        return _growing(*growing)
    texts = [part.text for part in parts]
    times = {text: texts.count(text) for text in texts}
    return Bound(" + ".join(f"{n} x {text}" if n > 1 else text for text, n in times.items()))


def _product(parts: list[Bound]) -> Bound:
    growing = [name for part in parts for name in part.grows_with]
    what = "pairs" if len(parts) == 2 else "combinations"
    return _growing(*growing) if growing else Bound(f"{what} of {' and '.join(f'({part.text})' for part in parts)}")
