"""A query and a flow that are started and stopped without Spark, each as a start on Spark would do it.

A life has a checkpoint with everything in it: offsets and commits as Spark writes them, state, a table, late rows, and
commands. `go_on` starts it from the files alone and runs it up to a batch; `written` is what its sink has got.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from faults.steps import GROUPS, SCHEMA, SHARDS, Emitted, Steps
from golden.cases import TICKS
from golden.flows import SHARDS as FLOW_SHARDS
from golden.flows import STREAMS as FLOW_STREAMS
from golden.flows import Flow, _stream_schema
from golden.happenings import batches, drawn
from golden.queries import catalog_of
from runtime.distributed.cluster import arrow_columns
from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.algebra.expressions import column
from thalweg.core.errors import CheckpointError
from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING
from thalweg.core.types import DataType
from thalweg.cql import compile_query
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.identity import Identity
from thalweg.runtime.distributed.checkpoint.checksums import sealed_arrow
from thalweg.runtime.distributed.checkpoint.control import read_command
from thalweg.runtime.distributed.checkpoint.files import read_bytes, replace_file
from thalweg.runtime.distributed.checkpoint.flow_desk import FlowDefinition, FlowDesk
from thalweg.runtime.distributed.checkpoint.folder import Asked, Checkpoint
from thalweg.runtime.distributed.checkpoint.lease import take
from thalweg.runtime.distributed.checkpoint.query_file import PinnedChoice
from thalweg.runtime.distributed.checkpoint.report import LATE
from thalweg.runtime.distributed.checkpoint.resume import resume
from thalweg.runtime.distributed.exchange.codec import pack, to_arrow
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.side_outputs import read_side_output
from thalweg.runtime.distributed.ingest.table_reader import table_changes
from thalweg.runtime.distributed.stages import cut
from thalweg.runtime.distributed.worker import step as memory
from thalweg.runtime.distributed.worker.cut_query import CutQuery
from thalweg.runtime.distributed.worker.program import AnswerPart
from thalweg.runtime.distributed.worker.step import ShardId

QUERY = """
SELECT t.w, COUNT(*) AS n, SUM(b.v) AS total FROM s [RANGE 6] AS a, s [RANGE 6] AS b, t
WHERE a.k = b.k AND a.k = t.k GROUP BY t.w
"""
TABLE = Schema.of(k=DataType.STRING, w=DataType.STRING)
ROWS = [("k0", "zero"), ("k1", "one"), ("k2", None)]


class Life(Protocol):
    """Something that can be stopped, damaged, and gone on with."""

    checkpoint: Checkpoint
    written: dict[int, Any]  # by batch

    def go_on(self, until: int) -> None:
        """Start from the files, and run all batches before `until`."""

    def seen(self) -> Any:
        """What people may ask for: late rows, queries."""


def plan_batch(checkpoint: Checkpoint, batch: int, reads: Any) -> Any:
    """What a batch reads, as Spark does it: planned once, and the same when the batch is run again."""
    path = checkpoint.offsets(batch)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(reads))
    return json.loads(path.read_text())


def commit(checkpoint: Checkpoint, batch: int) -> None:
    checkpoint.commits.mkdir(parents=True, exist_ok=True)
    (checkpoint.commits / str(batch)).touch()


@dataclass
class _Stepping(Steps):
    """Steps with the messages of commands."""

    control: list[Message] = field(default_factory=list)
    fence: int = 0

    def __post_init__(self) -> None:
        """The layouts are written by the claim."""

    def step(self, stage: int, shard: int, batch: int, messages: Sequence[Message]) -> Any:
        mine = [message for message in self.control if message.group == shard] if stage == 0 else []
        place = ShardId(self.start, str(self.checkpoint), stage, shard, self.fence)
        return memory.run_step(self.spec.run_spec.stages[stage], place, batch, [*messages, *mine])


class QueryLife:
    """A join of two windows with a table, then a GROUP BY: two stages, in two shards."""

    IDENTITY = Identity("  a plan", "digest", "auto")

    def __init__(self, folder: Path) -> None:
        self.checkpoint = Checkpoint(folder)
        self.written: dict[int, Emitted] = {}
        catalog = Catalog()
        catalog.add(Stream("s", SCHEMA))
        catalog.add(Relation("t", TABLE))
        self._blueprint = Blueprint(compile_query(QUERY, catalog))
        self._cut = cut(self._blueprint.build())
        assert self._cut.count == 2

    def go_on(self, until: int) -> None:
        memory._resting.clear()
        place = self.checkpoint
        if place.is_claimed:
            place.query_file.check(self.IDENTITY, place.folder)
        held = take(place.folder)
        self._go_on(held.fence, until)
        held.release()

    def _go_on(self, fence: int, until: int) -> None:
        place = self.checkpoint
        if place.is_claimed:
            resume(place, self._cut.count)
        else:
            _write_table(place.tables / "t.arrow", TABLE, ROWS)
        layouts = place.claim(self.IDENTITY, Asked(SHARDS, SHARDS, GROUPS), PinnedChoice())
        tables = {"t": str(place.tables / "t.arrow")}
        spec = CutQuery(self._blueprint, self._cut, layouts, {"s": InputTime()}, False, tables)
        steps = _Stepping(place.folder, spec, start=f"{fence:06}", fence=fence)
        for batch in range(place.committed + 1, until):
            if batch % 3 == 2:
                place.command(3 * batch + 4)
            known = {name for b in range(batch) for name in plan_batch(place, b, [])}
            new = sorted(path.name for path in place.control.glob("*.json") if path.name not in known)
            steps.control = [m for name in plan_batch(place, batch, new) for m in self._control(name)]
            self.written[batch] = steps.batch(batch)
            commit(place, batch)

    def _control(self, name: str) -> list[Message]:
        path = self.checkpoint.control / name
        if not path.exists():
            raise CheckpointError(f"{path} is missing")  # Spark itself says so
        read_command(path, read_bytes(path).rstrip(b"\n"))
        line = name.encode() + b"\n" + read_bytes(path).rstrip(b"\n")
        return [Message(MessageKind.CONTROL, shard, 0, 0, BEGINNING, 0, line) for shard in range(SHARDS)]

    def seen(self) -> Any:
        tables = read_side_output(self.checkpoint.folder, LATE, "s")
        return sorted(repr(row) for table in tables for row in table.to_pylist())


FIRST = {
    "joined": "SELECT s.k, s.v, t.v AS w FROM s [RANGE 7] JOIN t [RANGE 9] ON s.k = t.k WHERE s.v >= 1",
    "counted": "SELECT k, COUNT(*) AS n, MAX(v) AS high FROM s [RANGE 9] GROUP BY k",
    "known": "SELECT s.k, s.v, r.name FROM s [RANGE 9] JOIN r ON s.k = r.k",
}
LATER = "SELECT name, SUM(v) AS total FROM s [RANGE 4] GROUP BY name"


class _Flow(Flow):
    """A flow that notes what each batch emits."""

    def __init__(self, folder: Path, batch: int, last_command: int) -> None:
        super().__init__(folder, batch)
        self._last_seq = last_command if batch else self._last_seq
        self.emitted: list[tuple[object, ...]] = []

    @property
    def last_command(self) -> int:
        return self._last_seq

    def _show(self, part: AnswerPart) -> None:
        assert part.owners is not None
        for number, query in enumerate(part.queries):
            mine = to_arrow(part.batch.take(part.owners == number), part.schema, part.pool)
            self.emitted += [(query, *row.values()) for row in mine.to_pylist()]


class FlowLife:
    """Queries of both backends over three streams and a table; queries come and go."""

    def __init__(self, folder: Path) -> None:
        self.checkpoint = Checkpoint(folder)
        self.written: dict[int, Any] = {}
        self._catalog = catalog_of(TICKS)
        self._batches = batches(drawn(self._catalog, FLOW_STREAMS, 130, "life"), 6)

    def go_on(self, until: int) -> None:
        memory._resting.clear()
        place, identity = self.checkpoint, Identity("flow life", "{}", "flow")
        asked = Asked(FLOW_SHARDS, FLOW_SHARDS, FLOW_SHARDS)
        first = not place.is_claimed
        place.claim(identity, asked)
        if first:
            self._open()
        desk = FlowDesk.at(place.folder)
        resume(place, 1)
        place.claim(identity, asked)
        desk.commands.check(max((r.flow.last_command for r in place.reports() if r.flow is not None), default=0))
        desk.commands.begin(has_begun=place.spark.exists())
        done = place.committed
        flow = _Flow(place.folder, done + 1, 0 if done < 0 else plan_batch(place, done, None)["after"])
        for batch in range(done + 1, until):
            if not place.offsets(batch).exists():
                self._command(desk, batch)
                last = max((command.seq for command in desk.commands.all()), default=0)
                plan_batch(place, batch, {"after": last})
            flow.emitted = []
            events = self._batches[batch]
            flow.run(events, events[-1].t)
            self.written[batch] = sorted(flow.emitted, key=repr)
            commit(place, batch)

    def _open(self) -> None:
        keys = {name: (column(_stream_schema(self._catalog, name), 0),) for name in FLOW_STREAMS}
        FlowDesk(self.checkpoint.folder, FlowDefinition("life", self._catalog, keys, ["r"], sees_all=True)).open()
        desk = FlowDesk.at(self.checkpoint.folder)
        desk.add_all(list(FIRST.values()), list(FIRST))
        table = self._catalog.get("r")
        assert isinstance(table, Relation)
        _write_table(self.checkpoint.tables / "r.arrow", table.schema, [(0, "zero"), (1, "one"), (3, None)])

    def _command(self, desk: FlowDesk, batch: int) -> None:
        if batch == 2:
            desk.add_all([LATER], ["later"])
        if batch == 4:
            desk.drop("joined")

    def seen(self) -> Any:
        return sorted(FlowDesk.at(self.checkpoint.folder).commands.live())


def _write_table(path: Path, schema: Schema, rows: Sequence[Row]) -> None:
    times = [pa.nulls(len(rows), pa.int64()), pa.array([1] * len(rows), pa.int64())]
    arrays = [*arrow_columns(schema, rows), *times]
    table = pa.table(arrays, names=[str(i) for i in range(len(arrays))])
    replace_file(path, sealed_arrow(pack(table_changes(table))))
