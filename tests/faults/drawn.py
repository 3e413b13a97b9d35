"""What the campaign runs: a few queries and a flow, with drawn rows, and the right answers to them.

Rows come in batches of three ticks; some come too late. The right answers are those of the reference.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Protocol

import pyarrow as pa

from runtime.distributed.cluster import arrow_columns
from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.core.rows import Bag, Row
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Instant
from thalweg.core.types import DataType
from thalweg.cql import compile_query
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import to_arrow
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.stream_reader import StreamReader
from thalweg.runtime.distributed.ingest.table_reader import TableReader
from thalweg.runtime.distributed.stages import cut
from thalweg.runtime.distributed.worker.cut_query import CutQuery
from thalweg.runtime.distributed.worker.program import RunSpec, StepResult

BATCHES, TICKS, AFTERWARDS = 6, 3, 20
STREAMS = {
    "s": Schema.of(k=DataType.STRING, g=DataType.STRING, v=DataType.BIGINT),
    "u": Schema.of(k=DataType.STRING, v=DataType.BIGINT),
}
TABLE = Schema.of(k=DataType.STRING, w=DataType.STRING)
QUERIES = {
    "two stages": "SELECT a.g, COUNT(*) AS n, SUM(b.v) AS total FROM s [RANGE 6] AS a, s [RANGE 6] AS b "
    "WHERE a.k = b.k GROUP BY a.g",
    "join, then groups": "SELECT s.g, COUNT(*) AS n, MAX(u.v) AS high FROM s [RANGE 7] JOIN u [RANGE 4] ON s.k = u.k "
    "GROUP BY s.g",
    "groups": "SELECT k, COUNT(*) AS n, MIN(v) AS low FROM s [RANGE 5] GROUP BY k",
    "slides": "SELECT k, SUM(v) AS total FROM s [RANGE 6 SLIDE 2] GROUP BY k",
    "distinct": "SELECT DISTINCT k, g FROM s [RANGE 4]",
    "except": "SELECT k FROM s [RANGE 5] EXCEPT SELECT k FROM u [RANGE 3]",
    "table": "SELECT s.k, s.v, r.w FROM s [RANGE 5] JOIN r ON s.k = r.k",
    "last rows": "SELECT g, COUNT(*) AS n FROM s [PARTITION BY k ROWS 2] GROUP BY g",
    "rows": "SELECT g, v FROM s [ROWS 4]",
    "entered": "SELECT k, COUNT(*) AS n FROM ISTREAM(SELECT DISTINCT k, g FROM s [RANGE 3]) [RANGE 5] GROUP BY k",
}

Emitted = Counter[tuple[object, ...]]  # rows of the answer with start and end, and how often, less those taken back
Happened = tuple[Instant, int, Row]  # time, sign (0 for a stream's row), row


class Case(Protocol):
    """Something to run, with its input and the right answers."""

    stages: int

    def run_spec(self, layouts: Layouts) -> RunSpec:
        """What its tasks know."""

    def messages(self, batch: int, layouts: Layouts, system: int) -> list[Message]:
        """What the tasks that read the sources send in a batch."""

    def emitted(self, results: list[StepResult]) -> Emitted:
        """What the last stage has emitted in a batch."""

    def check(self, written: list[Emitted]) -> None:
        """Compare all that was emitted with the reference; an AssertionError if it is wrong."""

    @property
    def late(self) -> dict[str, Counter[tuple[object, ...]]]:
        """By stream, the rows that come too late, with their times."""


@dataclass
class Input:
    """Drawn rows of streams and a table, batch by batch."""

    seed: str
    names: tuple[str, ...]
    batches: list[dict[str, list[Happened]]] = field(default_factory=list)
    late: dict[str, Counter[tuple[object, ...]]] = field(default_factory=dict)
    history: History = field(default_factory=History)

    def __post_init__(self) -> None:
        draw = random.Random(self.seed)
        seen: dict[str, Instant] = {}
        table: list[Row] = []
        streams = [name for name in self.names if name in STREAMS]
        for batch in range(BATCHES - 1):  # the last one brings nothing but the time
            clock = min(seen.values()) if len(seen) == len(streams) else BEGINNING
            rows = {name: self._stream(name, batch, clock, draw) for name in streams}
            for name, some in rows.items():
                seen |= {name: max([seen.get(name, BEGINNING), *(t for t, _, _ in some)])} if some else {}
            seen = {name: t for name, t in seen.items() if t > BEGINNING}
            if "r" in self.names:
                rows["r"] = self._table(batch, table, draw)
            self.batches.append({name: some for name, some in rows.items() if some})
        self.batches.append({})

    def _stream(self, name: str, batch: int, clock: Instant, draw: random.Random) -> list[Happened]:
        rows: list[Happened] = []
        for _ in range(draw.choice([0, 2, 4, 7])):
            t = TICKS * batch + draw.randrange(TICKS)
            if clock > 2 and draw.random() < 0.15:
                t = clock - 1 - draw.randrange(3)
            key, value = f"k{draw.randrange(4)}", draw.randrange(10)
            group = draw.choice(["g0", "g1", f"new {batch}", None])
            row: Row = (key, group, value) if name == "s" else (key, value)
            rows.append((t, 0, row))
            if t < clock:
                self.late.setdefault(name, Counter())[*row, t] += 1
            else:
                self.history.arrive(name, t, row)
        return rows

    def _table(self, batch: int, table: list[Row], draw: random.Random) -> list[Happened]:
        changes: list[Happened] = []
        for n in range(draw.randrange(3)):
            t = TICKS * batch + n
            if table and draw.random() < 0.4:
                row = table.pop(draw.randrange(len(table)))
                self.history.delete("r", t, row)
                changes.append((t, -1, row))
            else:
                row = (f"k{draw.randrange(4)}", draw.choice(["x", "y", None]))
                table.append(row)
                self.history.insert("r", t, row)
                changes.append((t, 1, row))
        return changes


def to_table(schema: Schema, rows: list[Happened], is_stream: bool) -> pa.Table:
    times = [pa.array([t for t, _, _ in rows], pa.int64())]
    signs = [] if is_stream else [pa.array([sign for _, sign, _ in rows], pa.int64())]
    arrays = [*arrow_columns(schema, [row for _, _, row in rows]), *times, *signs]
    return pa.table(arrays, names=[str(i) for i in range(len(arrays))])


def commands_of_time(batch: int, layouts: Layouts, system: int, always: bool = False) -> list[Message]:
    """A user's command: after the last row time passes until the windows are empty."""
    if batch < BATCHES - 1 and not always:
        return []
    to = TICKS * batch + (AFTERWARDS if batch == BATCHES - 1 else TICKS - 1)
    return [Message(MessageKind.ADVANCE, shard, 0, 0, to, system) for shard in range(layouts.last.shards)]


def net(parts: list[pa.RecordBatch], width: int) -> Emitted:
    """Rows with start and end, and how often they are there."""
    found: Emitted = Counter()
    for part in parts:
        columns = [part.column(i).to_pylist() for i in range(width + 3)]
        for *row, sign in zip(*columns, strict=True):
            found[tuple(row)] += sign
    return Counter({row: n for row, n in found.items() if n})


def answer(written: list[Emitted], t: Instant) -> Bag:
    """The answer at an instant, by all that was emitted."""
    bag: Bag = Counter()
    for emitted in written:
        for (*row, start, end), n in emitted.items():
            if start <= t < end:  # type: ignore[operator]
                bag[tuple(row)] += n  # type: ignore[arg-type]
    return Counter({row: n for row, n in bag.items() if n})


def compare(plan: Plan, history: History, written: list[Emitted]) -> None:
    reference, end = Reference(plan, history), TICKS * (BATCHES - 1) + AFTERWARDS
    for t in [*reference.instants(end), end]:
        wanted, got = reference.answer(t), answer(written, t)
        assert wanted == got, f"the answer at {t} is {dict(got)}, but must be {dict(wanted)}"


def catalog() -> Catalog:
    known = Catalog()
    for name, schema in STREAMS.items():
        known.add(Stream(name, schema))
    known.add(Relation("r", TABLE))
    return known


class QueryCase:
    """A query over drawn rows."""

    def __init__(self, name: str, number: int) -> None:
        self._plan = compile_query(QUERIES[name], catalog())
        self._blueprint = Blueprint(self._plan)
        self._cut = cut(self._blueprint.build())
        self.stages = self._cut.count
        leaves = [leaf for leaf in self._plan.walk() if isinstance(leaf, StreamScan | RelationScan)]
        self._sources = tuple(sorted({leaf.source.name for leaf in leaves}))
        self._specs: dict[Layouts, CutQuery] = {}
        self._number, self._name = number, name

    @cached_property
    def _input(self) -> Input:
        return Input(f"{self._name}-{self._number}", self._sources)

    @property
    def late(self) -> dict[str, Counter[tuple[object, ...]]]:
        return self._input.late

    def _spec(self, layouts: Layouts) -> CutQuery:
        if layouts not in self._specs:
            inputs = {name: InputTime() for name in self._sources if name in STREAMS}
            keys: dict[str, tuple[int, ...]] = {name: () for name in self._sources if name not in STREAMS}
            self._specs[layouts] = CutQuery(self._blueprint, self._cut, layouts, inputs, False, {}, keys)
        return self._specs[layouts]

    def run_spec(self, layouts: Layouts) -> RunSpec:
        return self._spec(layouts).run_spec

    def messages(self, batch: int, layouts: Layouts, system: int) -> list[Message]:
        found: list[Message] = []
        sources = self._spec(layouts).plan_of(0).sources.all
        for name, rows in self._input.batches[batch].items():
            ports = tuple((i, port.key) for i, port in sources.items() if port.source == name)
            half = (len(rows) + 1) // 2
            for part, some in enumerate((rows[:half], rows[half:])):
                if name in STREAMS:
                    table = to_table(STREAMS[name], some, True)
                    found += StreamReader(name, STREAMS[name], ports, layouts, False).messages(table, part, system)
                else:
                    table = to_table(TABLE, some, False)
                    found += TableReader(name, TABLE, ports, layouts).messages(table, part, system)
        return found + commands_of_time(batch, layouts, system)

    def emitted(self, results: list[StepResult]) -> Emitted:
        schema = self._plan.schema
        return net([to_arrow(p.batch, schema, p.pool) for result in results for p in result.parts], len(schema))

    def check(self, written: list[Emitted]) -> None:
        compare(self._plan, self._input.history, written)


@cache
def query_case(name: str, number: int) -> QueryCase:
    return QueryCase(name, number)
