"""Every window form of W2 parses to the window it means; would catch a form that is dropped or mixed up."""

from __future__ import annotations

import pytest

from cql.catalogue import plan_of
from thalweg.algebra.plan import Windowed
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange, Window
from thalweg.core.time import BEGINNING, FOREVER, parse_timestamp
from thalweg.core.types import DataType

MINUTE = 60_000_000
SECOND = 1_000_000

TICKS: list[tuple[str, Window]] = [
    ("[RANGE 5]", Range(5)),
    ("[range 5 slide 2]", Range(5, 2)),
    ("[RANGE 5 SLIDE 5]", Range(5, 5)),
    ("[RANGE 5 SLIDE 2 START AT 1]", Range(5, 2, 1)),
    ("[RANGE UNBOUNDED]", Unbounded()),
    ("[UNBOUNDED]", Unbounded()),
    ("[NOW]", Now()),
    ("[ROWS 100]", Rows(100)),
    ("[ROWS 100 SLIDE 10]", Rows(100, 10)),
    ("[PARTITION BY a ROWS 10]", PartitionedRows((0,), 10)),
    ("[PARTITION BY b, a ROWS 10 RANGE 7]", PartitionedRows((1, 0), 10, Range(7))),
    ("[PARTITION BY a ROWS 10 RANGE 7 SLIDE 2]", PartitionedRows((0,), 10, Range(7, 2))),
    ("[UNBOUNDED START AT 7]", Landmark(7)),
    ("[UNBOUNDED START AT -7]", Landmark(-7)),
    ("[UNTIL 9]", Landmark(BEGINNING, 9)),
    ("[FROM 3 UNTIL 9]", Landmark(3, 9)),
    ("[FROM 3]", Landmark(3, FOREVER)),
    ("[RANGE 10 ON a]", ValueRange(0, 10, DataType.BIGINT)),
    ("[RANGE 0.5 ON d]", ValueRange(2, 0.5, DataType.DOUBLE)),
]

TIMESTAMPS: list[tuple[str, Window]] = [
    ("[RANGE 5]", Range(5 * SECOND)),
    ("[RANGE 60 MINUTES SLIDE 1 MINUTE]", Range(60 * MINUTE, MINUTE)),
    ("[RANGE 1 DAY SLIDE 2 HOURS]", Range(1440 * MINUTE, 120 * MINUTE)),
    ("[RANGE 250 MILLISECONDS]", Range(250_000)),
    ("[RANGE 3 MICROSECONDS]", Range(3)),
    ("[RANGE 0.5 SECONDS]", Range(500_000)),
    ("[UNBOUNDED START AT '2026-01-31 07:00:00']", Landmark(parse_timestamp("2026-01-31 07:00:00"))),
    ("[UNBOUNDED START AT '07:00:00']", Landmark(420 * MINUTE)),
    ("[UNTIL '1970-01-02']", Landmark(BEGINNING, 1440 * MINUTE)),
    ("[FROM '07:00' UNTIL '08:00']", Landmark(420 * MINUTE, 480 * MINUTE)),
    ("[RANGE 5 SECONDS ON ts]", ValueRange(0, 5 * SECOND, DataType.TIMESTAMP)),
    ("[PARTITION BY k ROWS 2 RANGE 1 MINUTE]", PartitionedRows((1,), 2, Range(MINUTE))),
]


def window_of(cql: str) -> Window:
    plan = plan_of(cql)
    assert isinstance(plan, Windowed)
    return plan.window


@pytest.mark.parametrize(("text", "window"), TICKS)
def test_windows_of_a_stream_that_ticks(text: str, window: Window) -> None:
    assert window_of(f"SELECT * FROM s {text}") == window
    assert window_of(f"SELECT * FROM s AS t {text}") == window, "a window may follow the alias"
    assert window_of(f"SELECT t.* FROM s{text} t") == window


@pytest.mark.parametrize(("text", "window"), TIMESTAMPS)
def test_windows_of_a_stream_with_timestamps(text: str, window: Window) -> None:
    assert window_of(f"SELECT * FROM ev {text}") == window


@pytest.mark.parametrize("stream", ["s", "ev"])
def test_a_window_prints_as_cql_that_reads_back(stream: str) -> None:
    for text, _ in TICKS if stream == "s" else TIMESTAMPS:
        plan = plan_of(f"SELECT * FROM {stream} {text}")
        assert window_of(f"SELECT * FROM {stream} {plan.detail}") == window_of(f"SELECT * FROM {stream} {text}")
