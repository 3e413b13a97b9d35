"""A query of two stages, run step by step as Spark would, without Spark; any step can be disturbed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from thalweg.algebra.catalog import Catalog, Stream
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.cql import compile_query
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import to_arrow
from thalweg.runtime.distributed.exchange.message import Message
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.stream_reader import StreamReader
from thalweg.runtime.distributed.stages import cut
from thalweg.runtime.distributed.worker.cut_query import CutQuery
from thalweg.runtime.distributed.worker.program import StepResult
from thalweg.runtime.distributed.worker.step import LONGEST_REST, ShardId, run_step

SHARDS, GROUPS = 2, 8
SCHEMA = Schema.of(k=DataType.STRING, g=DataType.STRING, v=DataType.BIGINT)
QUERY = """
SELECT a.g, COUNT(*) AS n, SUM(b.v) AS total FROM s [RANGE 6] AS a, s [RANGE 6] AS b WHERE a.k = b.k GROUP BY a.g
"""

Row = tuple[int, str, str, int]
Emitted = list[tuple[object, ...]]  # rows of the answer with start, end and sign, in any order


def two_stages(lateness: int = 0) -> CutQuery:
    """What the tasks of the query know."""
    catalog = Catalog()
    catalog.add(Stream("s", SCHEMA))
    blueprint = Blueprint(compile_query(QUERY, catalog))
    parts = cut(blueprint.build())
    assert len(parts.stages) == 2
    layouts = Layouts(GROUPS, ()).changed(0, SHARDS)
    return CutQuery(blueprint, parts, layouts, {"s": InputTime(lateness)}, False, {})


def rows_of(batch: int) -> list[Row]:
    """The input of a batch: a few keys, ever new strings, a row that is too late."""
    draw = np.random.default_rng(batch)
    on_time = [(3 * batch + i // 4, f"k{draw.integers(3)}", f"g{batch // 4}-{i % 2}", i) for i in range(10)]
    return [*on_time, (max(0, 3 * batch - 9), "k0", "late", 100)]


@dataclass
class Steps:
    """Runs batches; `step` may be overridden to disturb one."""

    checkpoint: Path
    spec: CutQuery = field(default_factory=two_stages)
    start: str = "first"
    longest_rest: float = LONGEST_REST

    def __post_init__(self) -> None:
        self.spec.layouts.write(self.checkpoint)

    def batch(self, number: int) -> Emitted:
        """All steps of a batch, and what the answer has gained."""
        messages = list(self._read(rows_of(number)))
        emitted: Emitted = []
        for stage in range(len(self.spec.run_spec.stages)):
            results = [
                self.step(stage, shard, number, [p for p in messages if p.group % SHARDS == shard])
                for shard in range(SHARDS)
            ]
            messages = [message for result in results for message in result.messages]
            if stage == len(self.spec.run_spec.stages) - 1:
                emitted = [row for result in results for row in self._rows(result)]
        return sorted(emitted, key=repr)

    def step(self, stage: int, shard: int, batch: int, messages: Sequence[Message]) -> StepResult:
        """One of them."""
        return run_step(
            self.spec.run_spec.stages[stage],
            ShardId(self.start, str(self.checkpoint), stage, shard),
            batch,
            messages,
            self.longest_rest,
        )

    def _read(self, rows: Sequence[Row]) -> Iterator[Message]:
        ts, *values = (list(column) for column in zip(*rows, strict=True))
        arrays = [pa.array(column, f.type.arrow) for column, f in zip(values, SCHEMA, strict=True)]
        table = pa.table([*arrays, pa.array(ts, pa.int64())], names=[*SCHEMA.names, "_time"])
        streams = self.spec.plan_of(0).sources.streams
        ports = tuple((i, port.key) for i, port in enumerate(self.spec.cut.ports) if i in streams)
        yield from StreamReader("s", SCHEMA, ports, self.spec.layouts, stamped=False).messages(table, 0, 1)

    def _rows(self, result: StepResult) -> Emitted:
        parts = [to_arrow(part.batch, self.spec.blueprint.plan.schema, part.pool) for part in result.parts]
        return [tuple(row.values()) for arrow in parts for row in arrow.to_pylist()]
