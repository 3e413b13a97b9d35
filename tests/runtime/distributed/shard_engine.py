"""Scenarios on shards, without Spark."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from runtime.distributed.cluster import Cluster, TimedRow
from scenarios.micro_batches import first_instant, micro_batches, table_row
from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.core.rows import Bag, Change
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.core.types import DataType
from thalweg.cql import compile_script
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.patterns import check
from thalweg.runtime.distributed.checkpoint.report import BAD_ROWS, LATE
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.side_outputs import read_side_output
from thalweg.scenarios import Advance, Arrive, Delete, Event, Insert, Update

TIMES = (DataType.TIMESTAMP, DataType.INTERVAL)


class ShardEngine:
    """Every query is a `Cluster` of its own."""

    def __init__(self, shards: int, folder: Path, copies_tables: bool = False) -> None:
        self._shards, self._folder, self._copies_tables = shards, folder, copies_tables
        self.catalog = Catalog()
        self.clusters: dict[str, Cluster] = {}
        self._first: dict[str, Instant] = {}

    def prepare(self, cql: str, name: str) -> None:
        queries = compile_script(cql, self.catalog, name, today=0)
        for query in queries:
            check(query.plan)
        stamped = {s.clock for s in self.catalog.streams} == {Clock.TIMESTAMPS}
        inputs = {s.name: InputTime(s.lateness or 0) for s in self.catalog.streams}
        keys = {r.name: r.key for r in self.catalog.relations}
        for query in queries:
            assert query.name is not None
            sources = {leaf.source.name for leaf in query.plan.walk() if hasattr(leaf, "source")}
            mine = {name: time for name, time in inputs.items() if name in sources}
            folder, copied = self._folder / query.name, keys if self._copies_tables else ()
            self.clusters[query.name] = Cluster(
                Blueprint(query.plan), self._shards, folder, mine, keys, stamped, copied=copied
            )

    def feed(self, events: Sequence[Event]) -> None:
        for batch in micro_batches(events, self.catalog):
            by_source: defaultdict[str, list[TimedRow]] = defaultdict(list)
            for event in batch:
                if not isinstance(event, Advance):
                    source, one = self._timed_row(event)
                    by_source[source].append(one)
            clock = max((event.t for event in batch if isinstance(event, Advance)), default=None)
            for name, cluster in self.clusters.items():
                mine = {source: halves(rows) for source, rows in by_source.items() if source in cluster.sources}
                cluster.batch(mine, clock)
                first = first_instant(batch, cluster.sources)
                if first is not None:
                    self._first[name] = min(first, self._first.get(name, first))

    def _timed_row(self, event: Arrive | Insert | Update | Delete) -> tuple[str, TimedRow]:
        entry = self.catalog.get(event[0])
        if isinstance(event, Arrive):
            return entry.name, (event.t, 0, event.row)
        assert isinstance(entry, Relation)
        return entry.name, (None if event.t <= BEGINNING else event.t, *table_row(entry, event))

    def answer(self, query: str, t: Instant) -> Bag:
        assert t <= self.clusters[query].now
        return self.clusters[query].log.answer(t)

    def changes(self, query: str) -> list[Change]:
        cluster = self.clusters[query]
        return cluster.log.changes(cluster.now, self._first[query]) if cluster.now > BEGINNING else []

    def late(self, stream: str) -> list[Arrive]:
        entry = self.catalog.get(stream)
        assert isinstance(entry, Stream)
        found = [self._late(c, entry) for c in self.clusters.values() if entry.name in c.sources]
        assert all(Counter(rows) == Counter(found[0]) for rows in found)
        return found[0]

    def _late(self, cluster: Cluster, stream: Stream) -> list[Arrive]:
        rows = []
        for table in read_side_output(cluster.folder, LATE, stream.name):
            columns = [table.column(f.name).cast(f.type.arrow) for f in stream.schema]
            columns = [c.cast("int64") if f.type in TIMES else c for c, f in zip(columns, stream.schema, strict=True)]
            values = zip(*(column.to_pylist() for column in columns), strict=True)
            rows += [
                Arrive(stream.name, t, row) for t, row in zip(table.column("_time").to_pylist(), values, strict=True)
            ]
        return rows

    def side_output_counts(self) -> dict[str, int]:
        """How many late and bad rows there are, by kind and source."""
        found = {}
        for name in self.catalog.names:
            for kind in (LATE, BAD_ROWS):
                for cluster in self.clusters.values():
                    tables = read_side_output(cluster.folder, kind, name)
                    if tables:
                        found[f"{kind} {name}"] = sum(table.num_rows for table in tables)
        return found


def halves(rows: list[TimedRow]) -> list[list[TimedRow]]:
    """The rows as two partitions of a source."""
    return [rows[: len(rows) // 2], rows[len(rows) // 2 :]]
