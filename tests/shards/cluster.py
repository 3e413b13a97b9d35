"""Spark without Spark: every shard of every stage starts from its files in every batch, and does every batch twice."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, Instant
from thalweg.planner.blueprint import Blueprint
from thalweg.planner.selected import selections
from thalweg.planner.shards import cut
from thalweg.runtime.local.outputs import OutputLog
from thalweg.runtime.shards.clock import InputTime
from thalweg.runtime.shards.codec import from_arrow, to_arrow
from thalweg.runtime.shards.parcel import COMMAND, DRAIN, Parcel
from thalweg.runtime.shards.reading import Reading, TableReading
from thalweg.runtime.shards.store import ShardStore, read_manifest, shard_folder
from thalweg.runtime.shards.worker import QuerySpec, ShardWorker
from thalweg.runtime.spark.parcels import from_rows, to_rows

Told = tuple[Instant | None, int, Row]  # time, sign (0 for a stream's tuple), row


class Cluster:
    """A query in shards. `inputs` are its streams, `keys` its tables with their primary keys."""

    def __init__(
        self,
        blueprint: Blueprint,
        shards: int,
        folder: Path,
        inputs: Mapping[str, InputTime],
        keys: Mapping[str, tuple[int, ...]],
        stamped: bool = False,
        twice: bool = True,
    ) -> None:
        pipeline = blueprint.build()
        self.spec = QuerySpec(blueprint, cut(pipeline), shards, dict(inputs), stamped, {}, dict(keys))
        self.folder, self._twice = folder, twice
        self.schema = blueprint.plan.schema
        self.log = OutputLog(self.schema, StringPool())
        self.batches = 0
        self._conditions = selections(blueprint.plan)
        self._schemas = {n.source: n.schema for n in pipeline.nodes if n.operator is None}
        self._ports = {
            name: tuple(
                (i, port.key)
                for i, port in enumerate(self.spec.cut.ports)
                if port.origin is None and pipeline.nodes[port.node].source == name
            )
            for name in self._schemas
        }

    @property
    def sources(self) -> set[str]:
        return set(self._schemas)

    # -- what comes in

    def batch(
        self, told: Mapping[str, Sequence[Sequence[Told]]], clock: Instant | None = None, system: int = 0
    ) -> None:
        """One micro-batch: by source the rows of each of its partitions; `clock` moves the time (DRAIN: to the end)."""
        parcels: list[Parcel] = []
        for name, parts in told.items():
            for part, rows in enumerate(parts):
                reading, table = self._reading(name), self._table(name, rows)
                before = self.now if self.batches else BEGINNING
                told_time = (before,) if isinstance(reading, Reading) else ()
                parcels += reading.parcels(table, part, system, *told_time)
        if clock is not None:
            parcels += [Parcel(shard, COMMAND, 0, clock, system, b"") for shard in range(self.spec.shards)]
        self._run(parcels)

    def drain(self) -> None:
        self.batch({}, DRAIN)

    def _reading(self, name: str) -> Reading | TableReading:
        schema, ports, shards = self._schemas[name], self._ports[name], self.spec.shards
        if name in self.spec.inputs:
            return Reading(name, schema, ports, shards, self.spec.stamped, condition=self._conditions.get(name))
        return TableReading(name, schema, ports, shards, self.spec.keys[name])

    def _table(self, name: str, rows: Sequence[Told]) -> pa.Table:
        columns = arrow_columns(self._schemas[name], [row for _, _, row in rows])
        times = [pa.array([t for t, _, _ in rows], pa.int64())]
        if name not in self.spec.inputs:
            times.append(pa.array([sign for _, sign, _ in rows], pa.int64()))
        arrays = [*columns, *times]
        return pa.table(arrays, names=[str(i) for i in range(len(arrays))])

    # -- a batch

    def _run(self, parcels: list[Parcel]) -> None:
        for stage in range(self.spec.stages):
            out: list[Parcel] = []
            for shard in range(self.spec.shards):
                sent, answer = self._shard(stage, shard, [p for p in parcels if p.shard == shard])
                out += sent
                if answer is not None and stage == self.spec.stages - 1:
                    self.log.add(from_arrow(answer, self.schema, self.log.pool))
            parcels = list(from_rows([to_rows(out)]))  # as they travel between tasks
        self.batches += 1

    def _shard(self, stage: int, shard: int, parcels: list[Parcel]) -> tuple[list[Parcel], pa.RecordBatch | None]:
        first = self._attempt(stage, shard, parcels)
        if self._twice:  # a task that is run again has the same parcels, in another order
            again = self._attempt(stage, shard, random.Random(shard).sample(parcels, len(parcels)))
            assert again[0] == first[0]
            assert again[1] == first[1]
            assert same(again[2], first[2])
        return first[0], first[1]

    def _attempt(
        self, stage: int, shard: int, parcels: list[Parcel]
    ) -> tuple[list[Parcel], pa.RecordBatch | None, Any]:
        folder = shard_folder(self.folder, stage, shard)
        worker, store = ShardWorker(self.spec, stage, shard), ShardStore(folder)
        if self.batches:
            worker.restore(store.load(self.batches - 1))
        out, answer = worker.run(parcels)
        store.save(self.batches, worker.snapshot(), worker.about())
        worker.aside.write(self.folder, self.batches, shard)
        arrow = None if answer is None else to_arrow(answer, self.schema, worker.pool)
        state = (
            ShardStore(folder).load(self.batches),
            read_manifest(folder / f"manifest-{self.batches}.json")["about"],
        )
        return out, arrow, state

    # -- what comes out

    @property
    def now(self) -> Instant:
        return min(int(about["now"]) for about in self.abouts())

    def abouts(self) -> list[dict[str, Any]]:
        folders = [shard_folder(self.folder, 0, shard) for shard in range(self.spec.shards)]
        return [read_manifest(folder / f"manifest-{self.batches - 1}.json")["about"] for folder in folders]


def arrow_columns(schema: Schema, rows: Sequence[Row]) -> list[pa.Array]:
    return [pa.array([row[i] for row in rows], field.type.arrow) for i, field in enumerate(schema)]


def same(one: Any, other: Any) -> bool:
    """Whether two snapshots are equal, arrays bit by bit."""
    match one, other:
        case np.ndarray(), np.ndarray():
            return one.dtype == other.dtype and one.tobytes() == other.tobytes()
        case dict(), dict():
            return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
        case (list(), list()) | (tuple(), tuple()):
            return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
