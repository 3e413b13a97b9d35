"""Drawn plans on Spark: a few in every test run, more with THALWEG_SPARK_PLANS=50, in one, two and five shards.

Would catch what neither shards without Spark nor scenarios on it do: an operator, type or order of arrival that nobody
thought of writing down, on its way through sources, exchanges and the files of the answer.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from kernel.test_against_reference import AFTERWARDS, allowed, events_of
from reference.oracle.tables import close
from strategies.catalog import catalog_of
from strategies.plans import cases
from thalweg.algebra.plan import Plan
from thalweg.core.rows import Bag, Row
from thalweg.core.schema import Field, Schema
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.reference.evaluate import Reference
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query_run import SparkQueryRun
from thalweg.runtime.spark.inputs import AT, OPERATION
from thalweg.runtime.spark.schema import to_arrow, to_spark

EXAMPLES = int(os.environ.get("THALWEG_SPARK_PLANS", "2"))
TICK = "tick of arrival"
NUMBERS = count()  # of drawn cases, each in a folder of its own

Happened = tuple[Instant, int, tuple[object, ...]]


class OnSpark:
    """A plan whose streams and tables are folders of Parquet files."""

    def __init__(self, spark: SparkSession, plan: Plan, shards: int, folder: Path) -> None:
        self._engine, self._folder, self._files = Engine(spark, shards=shards), folder, dict[str, Schema]()
        catalog = catalog_of(plan)
        for stream in catalog.streams:
            frame = self._source(spark, stream.name, (*stream.schema, Field(TICK, DataType.BIGINT)))
            self._engine.stream(stream.name, frame, timestamp=TICK)
        for relation in catalog.relations:
            extra = (Field(OPERATION, DataType.STRING), Field(AT, DataType.BIGINT))
            frame = self._source(spark, relation.name, (*relation.schema, *extra))
            self._engine.relation(relation.name, frame, retroactive=relation.retroactive)
        self._query = self._engine.query(plan)
        self.run: SparkQueryRun | None = None

    def _source(self, spark: SparkSession, name: str, fields: Sequence[Field]) -> DataFrame:
        (self._folder / name).mkdir(parents=True)
        self._files[name] = Schema(tuple(fields))
        return spark.readStream.schema(to_spark(self._files[name])).parquet(str(self._folder / name))

    def write(self, events: Sequence[Happened]) -> None:
        """Let these happen, tables first: what must be known first has to be there before."""
        rows: defaultdict[tuple[int, str], list[tuple[object, ...]]] = defaultdict(list)
        for t, kind, what in events:
            if kind == 0:
                name, row = what
                rows[1, str(name)].append((*row, t))  # type: ignore[misc]
            else:
                name, sign, row = what
                rows[0, str(name)].append((*row, "+" if sign == 1 else "-", t))  # type: ignore[misc]
        for (_, name), some in sorted(rows.items()):
            schema = to_arrow(self._files[name])
            arrays = [pa.array(values, f.type) for values, f in zip(zip(*some, strict=True), schema, strict=True)]
            path = self._folder / name / f".{next(NUMBERS):06}.parquet"
            pq.write_table(pa.table(arrays, schema=schema), path)
            path.rename(path.with_name(path.name[1:]))
        if self.run is None:
            self.run = self._query.start(self._folder / "checkpoint")
        self.run.wait()

    def answers(self, end: Instant) -> dict[tuple[Instant | None, Row], int]:
        """What was emitted up to `end`, by instant (None: ever since) and row."""
        assert self.run is not None
        self.run.advance(end)
        self.run.wait()
        net: Counter[tuple[Instant | None, Row]] = Counter()
        for t, sign, *row in self.run.changes().collect():
            net[t, tuple(row)] += sign
        self.run.stop()
        return net


def at(changes: dict[tuple[Instant | None, Row], int], t: Instant) -> Bag:
    bag: Bag = Counter()
    for (since, row), n in changes.items():
        if since is None or since <= t:
            bag[row] += n
    return Counter({row: n for row, n in bag.items() if n})


@pytest.mark.parametrize("shards", [1, 2, 5])
@settings(
    max_examples=EXAMPLES, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)  # nothing is shrunk: tests/runtime/distributed does that without Spark
@given(data=st.data())
def test_drawn_plans_give_the_references_answer_on_spark(
    shards: int, data: st.DataObject, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    plan, history = data.draw(cases().filter(lambda case: allowed(case[0]) and len(events_of(*case)) > 3))
    note(f"{plan}, {history}")
    events = events_of(plan, history)
    cut = data.draw(st.integers(1, len(events) - 1), label="events in the first batches")
    engine = OnSpark(spark, plan, shards, tmp_path_factory.mktemp("plan"))
    engine.write(events[:cut])
    engine.write(events[cut:])
    end = max(history.last, 0) + AFTERWARDS
    changes, reference = engine.answers(end), Reference(plan, history)
    for t in [*reference.instants(end), end]:
        assert close(reference.answer(t), at(changes, t)), f"at {t}, in {shards} shards"
