"""Would catch a lifetime that disagrees with the scope, or a boundary that a window forgets to announce (W1).

Scope, lifetime and contents are three definitions of the same thing; every engine trusts a different one of them.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from algebra.windows.draw import rows_at
from strategies.windows import logical_windows, windows
from thalweg.algebra.windows import LogicalWindow, Window
from thalweg.core.rows import Arrival, Value
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER
from thalweg.core.types import DataType

SCHEMA = Schema.of(k=DataType.BIGINT, x=DataType.DOUBLE)
INSTANTS = range(-6, 30)

timestamps = st.integers(-4, 12)
values = st.tuples(st.none() | st.integers(0, 3), st.none() | st.sampled_from([0.0, 0.5, 2.5]))


@st.composite
def streams(draw: st.DrawFn) -> list[Arrival]:
    """A few arrivals, with ties, in order of (ts, seq)."""
    times = sorted(draw(st.lists(timestamps, max_size=10)))
    rows: list[tuple[Value, ...]] = [draw(values) for _ in times]
    return [Arrival(ts, seq, row) for seq, (ts, row) in enumerate(zip(times, rows, strict=True))]


@given(logical_windows(), timestamps)
def test_a_lifetime_is_the_instants_whose_scope_holds_the_tuple(window: LogicalWindow, ts: int) -> None:
    start, end = window.lifetime(ts)
    for t in INSTANTS:
        assert (start <= t < end) == (ts <= t and ts in window.scope(t)), t


@given(logical_windows(), streams())
def test_contents_are_the_tuples_alive(window: LogicalWindow, given_: list[Arrival]) -> None:
    for t in INSTANTS:
        alive = [a.row for a in given_ if window.lifetime(a.ts)[0] <= t < window.lifetime(a.ts)[1]]
        assert rows_at(window, given_, t) == alive, t


@given(logical_windows(), st.lists(timestamps))
def test_lifetimes_of_many_are_those_of_each(window: LogicalWindow, times: list[int]) -> None:
    starts, ends = window.lifetimes(np.array(times, dtype=np.int64))
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == [window.lifetime(ts) for ts in times]


@given(st.data(), streams())
def test_contents_change_only_at_announced_boundaries(data: st.DataObject, given_: list[Arrival]) -> None:
    window = data.draw(windows(SCHEMA))
    announced = {edge for a in given_ for edge in window.boundaries(a.ts)}
    before = rows_at(window, given_, INSTANTS[0])
    for t in INSTANTS[1:]:
        now = rows_at(window, given_, t)
        assert now == before or t in announced, t
        before = now


@given(st.data(), streams())
def test_nothing_outlives_its_expiry(data: st.DataObject, given_: list[Arrival]) -> None:
    window = data.draw(windows(SCHEMA))
    for t in INSTANTS:
        held = window.contents([a for a in given_ if a.ts <= t], t)
        assert all(a.ts <= t < window.expiry(a.ts) <= FOREVER for a in held), t
        assert held == sorted(held, key=lambda a: (a.ts, a.seq)), t


@given(st.data(), streams())
def test_a_window_looks_at_no_column_it_does_not_name(data: st.DataObject, given_: list[Arrival]) -> None:
    window: Window = data.draw(windows(SCHEMA))
    blind = [a._replace(row=tuple(v if i in window.columns else "hidden" for i, v in enumerate(a.row))) for a in given_]
    for t in INSTANTS:
        kept, same = (
            [a.seq for a in window.contents([a for a in stream if a.ts <= t], t)] for stream in (given_, blind)
        )
        assert kept == same, t
