"""Would catch results that are packed for another query, with other columns or other ends than by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from thalweg.algebra.expressions import Expression, call, column, literal
from thalweg.algebra.plan import Named
from thalweg.algebra.windows import Range, Unbounded, Window
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.flows.eddy import Delivered, Eddy, EddyTuning, SpjQuery, Use

S = Schema.of(a=DataType.BIGINT, b=DataType.BIGINT)
A, B = column(S, 0), column(S, 1)
SHOWN: list[list[Expression]] = [[A], [B, A], [call("+", A, B)]]
WINDOWS: list[Window] = [Unbounded(), Range(3), Range(7)]
Gains = dict[int, list[tuple[int, ...]]]


def delivered(tuning: EddyTuning) -> Delivered:
    eddy = Eddy({"s": S}, StringPool(), tuning=tuning)
    for slot in range(90):
        items = tuple(Named(e, f"c{i}") for i, e in enumerate(SHOWN[slot % 3]))
        eddy.add(slot, SpjQuery((Use("s", WINDOWS[slot // 3 % 3]),), call("<", A, literal(slot)), items))
    rng = np.random.default_rng(1)
    return eddy.process({"s": Batch.of_arrivals([rng.integers(0, 100, 200), np.arange(200)], np.arange(200))}, 199)


def rows(batch: Batch) -> list[tuple[int, ...]]:
    lanes = (*batch.columns, batch.start, batch.end, batch.sign)
    return list(zip(*(lane.tolist() for lane in lanes), strict=True))


@pytest.mark.parametrize("few", [1, 10_000])  # listed, and marked in bitmaps
def test_packed_results_are_those_of_each_query(few: int) -> None:
    tuning = EddyTuning(list_from_queries=few)
    each: Gains = {slot: rows(batch) for slot, batch in delivered(tuning)}
    packed: Gains = {}
    kinds = list(delivered(tuning).packed())
    for slots, batch in kinds:
        for slot, row in zip(slots.tolist(), rows(batch), strict=True):
            packed.setdefault(slot, []).append(row)
    assert packed == each and len(kinds) == len(SHOWN)
    assert {row[-2] - row[-3] for row in each[89]} == {7} and len(each[89]) > 100
