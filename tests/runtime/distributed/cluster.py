"""Spark without Spark: every shard of every stage starts from its files in every batch, and does every batch twice."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.runtime.distributed.checkpoint.layouts import (
    Layouts,
    remove_older,
    shard_folder,
    stage_folder,
    usual_groups,
)
from thalweg.runtime.distributed.checkpoint.manifest import read_manifest
from thalweg.runtime.distributed.checkpoint.report import ShardReport
from thalweg.runtime.distributed.checkpoint.store import ShardStore
from thalweg.runtime.distributed.exchange.blobs import BlobFiles
from thalweg.runtime.distributed.exchange.codec import from_arrow, to_arrow
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.needed import selections
from thalweg.runtime.distributed.ingest.stream_reader import StreamReader
from thalweg.runtime.distributed.ingest.table_reader import TableReader
from thalweg.runtime.distributed.stages import cut
from thalweg.runtime.distributed.worker.cut_query import CutQuery
from thalweg.runtime.distributed.worker.grouped_program import state_before
from thalweg.runtime.local.outputs import OutputLog
from thalweg.runtime.spark.tasks.messages import from_rows, to_rows

TimedRow = tuple[Instant | None, int, Row]  # time, sign (0 for a stream's tuple), row


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
        groups: int | None = None,
        copied: Collection[str] = (),
    ) -> None:
        pipeline = blueprint.build()
        layouts = Layouts(groups or usual_groups(shards), ()).changed(0, shards)
        layouts.write(folder)
        self.spec = CutQuery(blueprint, cut(pipeline, copied), layouts, dict(inputs), stamped, {}, dict(keys))
        self._stages = self.spec.run_spec.stages
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

    def reshard(self, shards: int) -> None:
        """The query was stopped, and goes on in another number of shards."""
        layouts = self.spec.layouts.changed(self.batches, shards)
        layouts.write(self.folder)
        self.spec = replace(self.spec, layouts=layouts)
        self._stages = self.spec.run_spec.stages

    # -- what comes in

    def batch(
        self,
        arrived: Mapping[str, Sequence[Sequence[TimedRow]]],
        clock: Instant | None = None,
        drain: bool = False,
        system: int = 0,
        shards_done: Sequence[int] | None = None,
    ) -> None:
        """One micro-batch: by source the rows of each of its partitions; `clock` moves the time, `drain` to the end.

        With `shards_done` only these shards of the last stage run their step before everything ends; nobody hears of
        the batch, and it is to be run again.
        """
        messages: list[Message] = []
        for name, parts in arrived.items():
            for part, rows in enumerate(parts):
                reader, table = self._reader(name), self._table(name, rows)
                before = self.now if self.batches else BEGINNING
                time_before = (before,) if isinstance(reader, StreamReader) else ()
                messages += reader.messages(table, part, system, *time_before)
        for shard in range(self.spec.layouts.last.shards):
            if clock is not None:
                messages.append(Message(MessageKind.ADVANCE, shard, 0, 0, clock, system))
            if drain:
                messages.append(Message(MessageKind.DRAIN, shard, 0, 0, BEGINNING, system))
        self._run(messages, shards_done)

    def drain(self) -> None:
        self.batch({}, drain=True)

    def _reader(self, name: str) -> StreamReader | TableReader:
        schema, ports, layouts = self._schemas[name], self._ports[name], self.spec.layouts
        if name in self.spec.inputs:
            return StreamReader(name, schema, ports, layouts, self.spec.stamped, condition=self._conditions.get(name))
        return TableReader(name, schema, ports, layouts, self.spec.keys[name])

    def _table(self, name: str, rows: Sequence[TimedRow]) -> pa.Table:
        columns = arrow_columns(self._schemas[name], [row for _, _, row in rows])
        times = [pa.array([t for t, _, _ in rows], pa.int64())]
        if name not in self.spec.inputs:
            times.append(pa.array([sign for _, sign, _ in rows], pa.int64()))
        arrays = [*columns, *times]
        return pa.table(arrays, names=[str(i) for i in range(len(arrays))])

    # -- a batch

    def _run(self, messages: list[Message], shards_done: Sequence[int] | None) -> None:
        shards = self.spec.layouts.last.shards
        for stage in range(len(self._stages)):
            out: list[Message] = []
            is_last = stage == len(self._stages) - 1
            for shard in range(shards) if shards_done is None or not is_last else shards_done:
                sent, answers = self._shard(stage, shard, [m for m in messages if m.group % shards == shard])
                out += sent
                for answer in answers if is_last and shards_done is None else ():
                    self.log.add(from_arrow(answer, self.schema, self.log.pool))
            files = BlobFiles(self.folder)
            messages = list(from_rows([to_rows(out, files, self.batches)], files))  # as they travel between tasks
        self.batches += shards_done is None

    def _shard(self, stage: int, shard: int, messages: list[Message]) -> tuple[list[Message], list[pa.RecordBatch]]:
        first = self._attempt(stage, shard, messages)
        if self._twice:  # a task that is run again has the same messages, in another order
            again = self._attempt(stage, shard, random.Random(shard).sample(messages, len(messages)))
            assert again[0] == first[0]
            assert again[1] == first[1]
            assert same(again[2], first[2])
        return first[0], first[1]

    def _attempt(
        self, stage: int, shard: int, messages: list[Message]
    ) -> tuple[list[Message], list[pa.RecordBatch], Any]:
        layouts, number = self.spec.layouts, self.batches
        folder = shard_folder(self.folder, stage, layouts.last, shard)
        program, store = self._stages[stage].program(shard), ShardStore(folder)
        if number:
            program.restore(state_before(number, layouts, self.folder, stage, shard, store))
        out, parts = program.run(messages)
        store.save(number, program.snapshot(), program.report())
        program.side_outputs.write(self.folder, number, shard, layouts.last.shards)
        if shard == 0:
            remove_older(stage_folder(self.folder, stage), layouts.last, number)
        arrow = [to_arrow(part.batch, self.schema, part.pool) for part in parts]
        state = (ShardStore(folder).load(number), read_manifest(folder, number).report.to_json())
        return out, arrow, state

    # -- what comes out

    @property
    def now(self) -> Instant:
        return min(report.now for report in self.reports())

    def reports(self, stage: int = 0) -> list[ShardReport]:
        done = self.batches - 1
        layout = self.spec.layouts.at(done)
        folders = [shard_folder(self.folder, stage, layout, shard) for shard in range(layout.shards)]
        return [read_manifest(folder, done).report for folder in folders]


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
