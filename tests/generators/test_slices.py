"""Would catch a generator whose rows depend on where a slice begins: a source going back would not repeat itself."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg import generators
from thalweg.core.errors import DataError, NameNotFoundError
from thalweg.core.time import SECOND
from thalweg.generators.tables import START

ROWS = 600


@pytest.mark.parametrize("name", generators.names())
@given(cuts=st.lists(st.integers(0, ROWS), max_size=5), seed=st.integers(0, 3))
def test_any_cutting_gives_the_same_rows(name: str, cuts: list[int], seed: int) -> None:
    made = generators.make(name, seed=seed)
    places = [0, *sorted(cuts), ROWS]
    parts = [made.table(i, j - i) for i, j in pairwise(places)]
    assert pa.concat_tables(parts).equals(made.table(0, ROWS).combine_chunks())


@pytest.mark.parametrize("name", generators.names())
def test_a_row_far_out_can_be_made_alone(name: str) -> None:
    made = generators.make(name, seed=5, rate=10_000)
    far = 10**9
    assert made.table(far + 3, 1).equals(made.table(far, 5).slice(3, 1).combine_chunks())


@pytest.mark.parametrize("name", generators.names())
def test_rows_fit_the_schema_and_come_in_order_at_the_rate(name: str) -> None:
    made = generators.make(name, seed=1, rate=500)
    table = made.table(0, 20_000)
    assert table.schema == made.schema.arrow
    ts = table.column("ts").cast(pa.int64()).to_numpy()
    assert (np.diff(ts) >= 0).all()
    assert ts[0] >= START
    assert (ts[-1] - ts[0]) / SECOND == pytest.approx(20_000 / made.rows_per_second, rel=0.01)


@pytest.mark.parametrize("name", generators.names())
def test_seeds_differ_and_nothing_is_null_by_chance(name: str) -> None:
    one, other = (generators.make(name, seed=seed).table(0, 200) for seed in (1, 2))
    assert not one.equals(other)
    assert all(one.column(c).null_count == 0 for c in one.column_names if c != "humidity")


def test_rows_start_at_the_given_time() -> None:
    moved = generators.make("sensors", start=0, rate=1).table(0, 1)
    assert 0 <= moved.column("ts").cast(pa.int64())[0].as_py() < SECOND


def test_some_readings_lack_their_humidity() -> None:
    table = generators.make("sensors", missing=0.25).table(0, 10_000)
    assert table.column("humidity").null_count == pytest.approx(2_500, rel=0.1)
    assert pc.min(table.column("humidity")).as_py() >= 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "conections"}, "there is no generator conections"),
        ({"name": "sensors", "sensor": 5}, "the generator sensors has no option sensor"),
        ({"name": "sensors", "rate": 0}, "option rate of the generator sensors wants a number, more than 0; got 0"),
        ({"name": "sensors", "sensors": 2.5}, "option sensors of the generator sensors wants an integer"),
        ({"name": "quotes", "skew": "1"}, "option skew of the generator quotes wants a number, 0 or more; got '1'"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises((NameNotFoundError, DataError), match=message):
        generators.make(**options)


def test_refusals_list_what_there_is() -> None:
    with pytest.raises(NameNotFoundError) as caught:
        generators.make("conections")
    assert caught.value.candidates == generators.names()
    assert caught.value.hint == "did you mean connections?"


def test_the_docs_name_every_generator_column_and_option() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sources.md").read_text().splitlines()
    for name in generators.names():
        made = generators.make(name)
        (line,) = (line for line in page if line.startswith(f"| `{name}` |"))
        assert f"| {', '.join(made.schema.names)} |" in line
        own = made.options.keys() - {"seed", "rate", "start"}
        assert all(f"`{option}`" in line or (name == "articles" and "as `quotes`" in line) for option in own)
