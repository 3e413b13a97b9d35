"""The queries of Tables 3 and 4 over a stream of uniform numbers (MaddenEtAl2002 §4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.algebra.expressions import and_, call, column, literal
from thalweg.algebra.plan import Named
from thalweg.algebra.windows import Unbounded
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.flows.eddy import Eddy, EddyStatistics, SpjQuery, Use
from thalweg.flows.eddy.routing import MakePolicy

ATTRIBUTES = "abcde"
SCHEMA = Schema.of(index=DataType.BIGINT, **dict.fromkeys(ATTRIBUTES, DataType.BIGINT))


def where(**least: int) -> SpjQuery:
    """SELECT index WHERE each given attribute is at least its bound; of numbers 0 to 99, 90 selects one in ten."""
    parts = [call(">=", column(SCHEMA, 1 + ATTRIBUTES.index(a)), literal(c)) for a, c in least.items()]
    return SpjQuery((Use("s", Unbounded()),), and_(parts), (Named(column(SCHEMA, 0), "index"),))


def nested(bounds: Sequence[int]) -> list[SpjQuery]:
    """A query over a, one over a and b, one over a, b and c ..."""
    pairs = list(zip(ATTRIBUTES, bounds, strict=True))
    return [where(**dict(pairs[: k + 1])) for k in range(len(pairs))]


TABLE_3 = nested([90, 70, 50, 30, 10])
WORKLOAD_1 = [where(**{a: c}) for a, c in zip(ATTRIBUTES, [30, 50, 10, 40, 90], strict=True)]
WORKLOAD_2 = nested([10] * 5)
WORKLOAD_3 = nested([10, 30, 50, 70, 90])


class FedEddy:
    """An eddy with its input: tuples of uniform numbers from 0 to 99."""

    def __init__(self, policy: str | MakePolicy, skip: bool, chunk: int, seed: int = 1) -> None:
        self.eddy = Eddy({"s": SCHEMA}, StringPool(), policy, skip, seed, chunk=chunk)
        self._rng = np.random.default_rng(seed)
        self._at = 0

    def feed(self, tuples: int, small: str = "") -> None:
        """Process more tuples; the numbers of the attributes in `small` are halved."""
        columns = {a: self._rng.integers(0, 100, tuples) for a in ATTRIBUTES}
        index = np.arange(self._at, self._at + tuples)
        self._at += tuples
        lanes = [lane // 2 if a in small else lane for a, lane in columns.items()]
        self.eddy.process({"s": Batch.of_arrivals([index, *lanes], index)}, self._at)

    def shares(self) -> dict[str, float]:
        """The share of tickets of each attribute's filter."""
        return {found.operator.removeprefix("s."): found.share for found in self.eddy.statistics().operators}

    def visits(self, tuples: int) -> float:
        """Process more tuples; return the filters that each visited on average."""
        before = self.eddy.statistics()
        self.feed(tuples)
        after: EddyStatistics = self.eddy.statistics()
        return (after.visits - before.visits) / tuples


def settled(workload: Sequence[SpjQuery], between: int, after: int) -> dict[str, float]:
    """The shares of tickets after adding the queries one by one, `between` tuples apart, and `after` more tuples."""
    flow = FedEddy("tickets", skip=False, chunk=16)
    for slot, query in enumerate(workload):
        flow.eddy.add(slot, query)
        flow.feed(between)
    flow.feed(after)
    return flow.shares()
