"""Selections over streams of uniform numbers: random queries as in MaddenEtAl2002 §3.2.8, and narrow bands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.algebra.catalog import Stream
from thalweg.algebra.expressions import Expression, and_, call, column, literal
from thalweg.algebra.plan import Named, Plan, Project, Select, StreamScan
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.types import DataType

SPREAD = 10_000  # attributes are uniform in 0 .. SPREAD - 1


def a_stream(name: str, attributes: int) -> Stream:
    """A stream with an index and `attributes` attributes a0, a1, ..."""
    return Stream(name, Schema.of(index=DataType.BIGINT, **{f"a{i}": DataType.BIGINT for i in range(attributes)}))


def _selecting(stream: Stream, parts: Sequence[Expression]) -> Plan:
    return Project(Select(StreamScan(stream), and_(list(parts))), (Named(column(stream.schema, 0), "index"),))


def random_queries(stream: Stream, count: int, rng: np.random.Generator) -> list[Plan]:
    """Queries that compare each attribute with a random value, with a chance of one half; at least one of them."""
    plans = []
    for _ in range(count):
        attributes = np.flatnonzero(rng.random(len(stream.schema) - 1) < 0.5)
        if not len(attributes):
            attributes = rng.integers(0, len(stream.schema) - 1, 1)
        parts = [
            call(str(rng.choice(["<", ">", "<=", ">="])), column(stream.schema, 1 + a), literal(_value(rng)))
            for a in attributes.tolist()
        ]
        plans.append(_selecting(stream, parts))
    return plans


def bands(stream: Stream, count: int, matches: float, rng: np.random.Generator) -> list[Plan]:
    """Queries that select some attributes within random bounds, so narrow that `matches` queries match a tuple."""
    plans = []
    for _ in range(count):
        attributes = rng.permutation(len(stream.schema) - 1)[: rng.integers(1, len(stream.schema))]
        width = max(1, round((matches / count) ** (1 / len(attributes)) * SPREAD))
        parts: list[Expression] = []
        for a in attributes.tolist():
            low, attribute = int(rng.integers(0, SPREAD - width + 1)), column(stream.schema, 1 + a)
            parts += [call(">=", attribute, literal(low)), call("<", attribute, literal(low + width))]
        plans.append(_selecting(stream, parts))
    return plans


def _value(rng: np.random.Generator) -> int:
    return int(rng.integers(0, SPREAD))


@dataclass
class TupleBatches:
    """Endless batches of `size` tuples of a stream, one tuple per tick."""

    stream: Stream
    size: int
    seed: int = 1

    def __iter__(self) -> Iterator[Batch]:
        rng, at = np.random.default_rng(self.seed), 0
        while True:
            index = np.arange(at, at + self.size)
            at += self.size
            columns = [rng.integers(0, SPREAD, self.size) for _ in range(len(self.stream.schema) - 1)]
            yield Batch.of_arrivals([index, *columns], index)
