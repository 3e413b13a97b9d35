"""Would catch a state that grows without end and is called bounded, or a bound that names the wrong thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from patterns.plans import (
    PAIR,
    S1,
    S2,
    WINDOWS,
    R,
    anti_join,
    group_by,
    join,
    link,
    negation,
    nrr_join,
    project,
    rows,
    select,
    sliding,
    top,
)
from thalweg.algebra.catalog import Stream
from thalweg.algebra.plan import Distinct, DStream, IStream, Plan, PlanNode, RStream, StreamScan, Union, Windowed
from thalweg.algebra.windows import BaseWindow, Landmark, PartitionedRows, Range, Rows, ValueRange
from thalweg.core.rows import Arrival
from thalweg.core.schema import Schema
from thalweg.core.time import SECOND, Clock, Instant
from thalweg.core.types import DataType
from thalweg.patterns import StateBound, annotate, bound, buffers, extent

W1, W2 = sliding(S1), sliding(S2)
LINK = link("link1")
TIMED = StreamScan(Stream("timed", Schema.of(ts=DataType.TIMESTAMP, x=DataType.TIMESTAMP), timestamp=0))


def state(plan: Plan) -> StateBound:
    """The bound of the top operator's state."""
    annotated = annotate(plan)
    return bound(annotated, buffers(plan, annotated.inputs))


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (W1, "tuples of the last 60 ticks"),
        (Windowed(LINK, Range(60 * SECOND)), "tuples of the last 1 MINUTE"),
        (Windowed(LINK, Range(90 * SECOND, SECOND)), "tuples of the last 90 SECONDS and a slide"),
        (Windowed(S1, WINDOWS["now"]), "tuples of one instant"),
        (rows(S1), "100 tuples"),
        (rows(S1, 1), "1 tuple"),
        (Windowed(S1, Rows(10, 5)), "10 tuples and a slide"),
        (Windowed(S1, PartitionedRows((0, 1), 10)), "10 tuples per value of a, b"),
        (Windowed(S1, PartitionedRows((0,), 1, Range(60))), "1 tuple per value of a, tuples of the last 60 ticks"),
        (Windowed(S1, WINDOWS["value"]), "tuples within 10 of the greatest a"),
        (Windowed(TIMED, ValueRange(1, SECOND, DataType.TIMESTAMP)), "tuples within 1 SECOND of the greatest x"),
        (Windowed(S1, Landmark(end=9)), "tuples until 9"),
        (Windowed(S1, Landmark(7, 9)), "tuples from 7 until 9"),
        (R, "size of relation r"),
        (nrr_join(W1), "size of NRR n"),
        (nrr_join(S1), "size of NRR n"),  # the stream side is not stored
        (S1, "no state"),
        (Windowed(S1, Landmark(start=7)), "no state"),
        (select(S1), "no state"),
        (project(W1, 0), "no state"),
        (Union(W1, S2), "no state"),
        (join(W1, W2), "2 x tuples of the last 60 ticks"),
        (join(W1, R), "tuples of the last 60 ticks + size of relation r"),
        (join(rows(S1), rows(S2, 5)), "100 tuples + 5 tuples"),  # its results are not its state
        (join(join(W1, R), rows(S2)), "pairs of (tuples of the last 60 ticks) and (size of relation r) + 100 tuples"),
        (negation(select(W1), rows(S2)), "tuples of the last 60 ticks + 100 tuples"),
        (negation(nrr_join(W1), rows(S2)), "tuples of the last 60 ticks + 100 tuples"),
        (anti_join(anti_join(W1, W2), rows(S2)), "tuples of the last 60 ticks + one row per distinct value"),
        (Distinct(W1), "two rows per distinct value"),
        (Distinct(S1), "one row per distinct value"),
        (Distinct(negation(S1, W2)), "one row per distinct value"),  # duplicates are only counted
        (Distinct(negation(W1, W2)), "one row per distinct value + tuples of the last 60 ticks"),
        (Distinct(Union(rows(S1), W2)), "one row per distinct value + 100 tuples + tuples of the last 60 ticks"),
        (group_by(W1, 0), "tuples of the last 60 ticks + one row per group"),
        (group_by(W1), "tuples of the last 60 ticks + one row"),
        (group_by(S1, 0), "one row per group"),  # nothing leaves, so nothing needs to be remembered
        (group_by(S1, 0, distinct=True), "one row per group + one entry per distinct argument of a group"),
        (group_by(group_by(W1, 0), 1), "one row per group"),
        (top(W1, 3), "tuples of the last 60 ticks"),
        (top(S1, 1), "1 row"),
        (IStream(W1), "tuples of the last 60 ticks"),
        (IStream(S1), "no state"),
        (DStream(negation(W1, W2)), "tuples of the last 60 ticks"),
        (join(top(W1, 3), W2), "3 rows + tuples of the last 60 ticks"),
    ],
)
def test_bounded_state_says_by_what(plan: Plan, text: str) -> None:
    assert state(plan) == StateBound(text)
    assert state(plan).bounded
    assert state(plan).way_out is None


@pytest.mark.parametrize(
    ("plan", "names"),
    [
        (join(S1, S2), ("stream s1", "stream s2")),
        (join(W1, S2), ("stream s2",)),
        (join(S1, Windowed(S1, Landmark(start=7))), ("stream s1",)),
        (negation(S1, W2), ("stream s1",)),
        (group_by(join(S1, W2), 0), ("stream s1",)),
        (top(Union(S1, W2)), ("stream s1",)),
        (RStream(S1), ("stream s1",)),
        (join(IStream(W1), W2), ("the output of IStream",)),
    ],
)
def test_unbounded_state_names_the_streams_and_a_way_out(plan: Plan, names: tuple[str, ...]) -> None:
    shown = " and ".join(names)
    assert state(plan) == StateBound(f"unbounded: grows with {shown}", names)
    assert not state(plan).bounded
    assert state(plan).way_out == f"put a window such as [RANGE ...] or [ROWS n] on {shown}"


def test_a_window_on_a_derived_stream_bounds_it_again() -> None:
    assert state(join(rows(IStream(join(S1, W2))), W2)).bounded
    assert not extent(IStream(W1)).bounded


@dataclass(frozen=True)
class Mystery(PlanNode):
    @property
    def schema(self) -> Schema:
        return PAIR


@dataclass(frozen=True)
class Porthole(BaseWindow):
    def contents(self, arrivals: Sequence[Arrival], t: Instant) -> list[Arrival]:
        return list(arrivals)

    def expiry(self, ts: Instant) -> Instant:
        return ts

    def boundaries(self, ts: Instant) -> tuple[Instant, ...]:
        return (ts,)

    def cql(self, names: Sequence[str], clock: Clock) -> str:
        return "[PORTHOLE]"


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(AssertionError, match="Mystery"):
        extent(Mystery())  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="Porthole"):
        extent(Windowed(S1, Porthole()))  # type: ignore[arg-type]
