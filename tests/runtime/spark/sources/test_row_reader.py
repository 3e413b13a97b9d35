"""How rows are dealt out, without Spark; would catch rows that come before their time, twice, or never."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from thalweg.core.errors import DataError
from thalweg.generators import make
from thalweg.runtime.spark.sources.generator import GeneratorReader
from thalweg.runtime.spark.sources.rows import NumberedRows, Pace, RangeLoad, RowReader, Speed


class TenASecond(RowReader):
    """Ten rows a second, of nothing."""

    now = 0.0

    def clock(self) -> float:
        return self.now  # the test moves it

    def due(self, first: int, seconds: float) -> int:
        return first + int(10 * seconds)


def reader(rows: int | None = None, per_batch: int = 25, speed: Speed = "max") -> TenASecond:
    return TenASecond(Pace(rows, per_batch, 3, speed))


def end_of(dealt: RowReader, first: int, limited: bool = True) -> int:
    limit = dealt.getDefaultReadLimit() if limited else ReadAllAvailable()
    return int(dealt.latestOffset({"row": first}, limit)["row"])


def test_as_fast_as_it_goes_up_to_the_end() -> None:
    dealt = reader(rows=60)
    assert dealt.initialOffset() == {"row": 0}
    assert [end_of(dealt, first) for first in (0, 25, 50, 60)] == [25, 50, 60, 60]
    assert end_of(dealt, 0, limited=False) == 60


def test_a_stream_without_an_end_gives_batch_after_batch_but_one_if_only_what_is_there_is_wanted() -> None:
    dealt = reader()
    assert [end_of(dealt, first) for first in (0, 25, 1_000)] == [25, 50, 1_025]
    dealt.prepareForTriggerAvailableNow()
    assert [end_of(dealt, first) for first in (100, 125, 125)] == [125, 125, 125]


def test_at_a_speed_rows_come_due_and_after_a_restart_time_goes_on() -> None:
    dealt = reader(rows=100, speed=2.0)
    ends: list[int] = []
    for now in (0.0, 0.5, 1.0, 1.0):
        dealt.now = now
        ends.append(end_of(dealt, ends[-1] if ends else 0))
    assert ends == [0, 10, 20, 20]
    again = reader(rows=100, speed=2.0)
    again.now = 7_000.0
    assert end_of(again, 20) == 20
    again.now = 7_000.5
    assert end_of(again, 20) == 30
    again.now = 9_000.0
    assert (end_of(again, 20), end_of(again, 20, limited=False)) == (45, 100)
    again.prepareForTriggerAvailableNow()
    assert end_of(again, 90) == 100, "what is bounded is there at once"


@given(first=st.integers(0, 10**12), rows=st.integers(0, 100_000))
def test_partitions_are_the_range(first: int, rows: int) -> None:
    parts = reader().partitions({"row": first}, {"row": first + rows})
    assert len(parts) <= 3
    places = [first]
    for part in parts:
        assert isinstance(part, NumberedRows)
        assert part.first == places[-1] < part.end
        places.append(part.end)
    assert places[-1] == first + rows


class Numbers(RangeLoad):
    """Rows that hold their numbers."""

    def rows(self, first: int, end: int, columns: Sequence[str]) -> pa.Table:
        return pa.table({name: list(range(first, end)) for name in columns})


def test_ranges_travel_and_rows_are_made_from_them() -> None:
    batches = [batch for part in (NumberedRows(5, 8), NumberedRows(20, 21)) for batch in reader().read(part)]
    assert [batch.to_pylist() for batch in batches] == [[{"first": 5, "end": 8}], [{"first": 20, "end": 21}]]
    (described,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    assert Numbers()(described, ["n"]).to_pydict() == {"n": [5, 6, 7, 20]}


def test_a_generator_knows_when_rows_are_due() -> None:
    made = make("nexmark_bid", rate=100)
    dealt = GeneratorReader(made, Pace(None, 10, 1, 1.0))
    assert dealt.due(1_000, 2.0) == 1_000 + 2 * 92


@pytest.mark.parametrize(
    ("pace", "message"),
    [
        ((None, 0, 1, "max"), "rows_per_batch wants 1 or more, got 0"),
        ((None, 1, -1, "max"), "partitions wants 1 or more, got -1"),
        ((-1, 1, 1, "max"), "rows wants 0 or more, got -1"),
        ((None, 1, 1, 0), "speed wants a number above 0, or 'max'; got 0"),
        ((None, 1, 1, "fast"), "got 'fast'"),
    ],
)
def test_refusals(pace: tuple[int | None, int, int, Speed], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Pace(*pace)


def test_the_limit_is_spark_s_own() -> None:
    assert reader(per_batch=7).getDefaultReadLimit() == ReadMaxRows(7)
