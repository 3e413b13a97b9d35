"""Spark under scenarios: events become files, which streaming sources find.

Not imported by `thalweg.scenarios`, so that scenarios work where there is no Spark.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from scenarios.micro_batches import first_instant, micro_batches, table_row
from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.core.errors import DataError
from thalweg.core.python_values import read_row
from thalweg.core.rows import Bag, Change, Row
from thalweg.core.schema import Field, Schema
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.core.types import DataType
from thalweg.cql import compile_script
from thalweg.patterns import check
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.api.query_run import SparkQueryRun
from thalweg.runtime.spark.inputs import AT, OPERATION
from thalweg.runtime.spark.schema import to_arrow, to_spark
from thalweg.scenarios.events import Advance, Arrive, Event

_TIMES = (DataType.TIMESTAMP, DataType.INTERVAL)
_TICK = "tick of arrival"


class SparkEngine:
    """An `Engine` whose sources are folders of Parquet files; `close` stops its queries."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self._folder = engine, folder
        self._catalog = Catalog()
        self._queries: dict[str, tuple[SparkQuery, set[str]]] = {}
        self._files: dict[str, Schema] = {}
        self.runs: dict[str, SparkQueryRun] = {}
        self._first: dict[str, Instant] = {}
        self._written = 0
        self._changes: dict[str, Counter[tuple[Instant, Row]]] = {}
        self._reported: dict[str, Counter[tuple[Instant, Row]]] = {}

    # -- declaring

    def prepare(self, cql: str, name: str) -> None:
        """Declare streams and relations and make the queries; they start with the first events."""
        compiled = compile_script(cql, self._catalog, name, today=0)
        for query in compiled:
            check(query.plan)
        for stream in self._catalog.streams:
            self._declare_stream(stream)
        for relation in self._catalog.relations:
            self._declare_relation(relation)
        for query in compiled:
            assert query.name is not None
            sources = {leaf.source.name for leaf in query.plan.walk() if hasattr(leaf, "source")}
            self._queries[query.name] = (self.engine.query(query.plan), sources)

    def _declare_stream(self, stream: Stream) -> None:
        stamped = stream.timestamp is not None
        fields = stream.schema.fields if stamped else (*stream.schema.fields, Field(_TICK, DataType.BIGINT))
        time = _TICK if stream.timestamp is None else stream.schema[stream.timestamp].name
        frame = self._source(stream.name, Schema(fields))
        self.engine.stream(stream.name, frame, timestamp=time, lateness=stream.lateness, ahead=None)

    def _declare_relation(self, relation: Relation) -> None:
        clocks = {s.clock for s in self._catalog.streams}
        at = DataType.TIMESTAMP if clocks == {Clock.TIMESTAMPS} else DataType.BIGINT
        extra = (Field(OPERATION, DataType.STRING), Field(AT, at))
        frame = self._source(relation.name, Schema((*relation.schema.fields, *extra)))
        key = [relation.schema[i].name for i in relation.key]
        self.engine.relation(relation.name, frame, key=key or None, retroactive=relation.retroactive)

    def _source(self, name: str, schema: Schema) -> Any:
        folder = self._folder / "in" / name
        folder.mkdir(parents=True)
        self._files[name] = schema
        return self.engine.spark.readStream.schema(to_spark(schema)).parquet(str(folder))

    # -- feeding

    def feed(self, events: Sequence[Event]) -> None:
        """Let these events happen, in as many micro-batches as it takes."""
        for batch in micro_batches(events, self._catalog):
            # Sources are looked at one after the other: what must be known first has to be there before.
            self._write([event for event in batch if not isinstance(event, Arrive | Advance)])
            self._write([event for event in batch if isinstance(event, Arrive)])
            for name, (query, sources) in self._queries.items():
                if name not in self.runs:
                    self.runs[name] = query.start(self._folder / "checkpoints" / name)
                first = first_instant(batch, sources)
                if first is not None:
                    self._first[name] = min(first, self._first.get(name, first))
            self._wait()
            for event in batch:
                if isinstance(event, Advance):
                    for run in self.runs.values():
                        run.advance(event.t)
            self._wait()
        self._changes = {}

    def _wait(self) -> None:
        for run in self.runs.values():
            run.wait()

    def _write(self, events: Iterable[Event]) -> None:
        """Files for what happens to streams and tables, and time for running queries to find them."""
        by_source: defaultdict[str, list[Row]] = defaultdict(list)
        for event in events:
            if isinstance(event, Advance):
                continue
            entry = self._catalog.get(event[0])
            if isinstance(event, Arrive):
                assert isinstance(entry, Stream)
                by_source[entry.name].append(event.row if entry.timestamp is not None else (*event.row, event.t))
            else:
                assert isinstance(entry, Relation)
                sign, row = table_row(entry, event)
                at = None if event.t <= BEGINNING else event.t
                by_source[entry.name].append((*row, "+" if sign > 0 else "-", at))
        for name, rows in by_source.items():
            self._written += 1
            schema = to_arrow(self._files[name])
            columns = [
                _array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)
            ]
            path = self._folder / "in" / name / f".{self._written:06}.parquet"
            pq.write_table(pa.table(columns, schema=schema), path)
            path.rename(path.with_name(path.name[1:]))
        if by_source:
            self._wait()

    # -- asking

    def answer(self, query: str, t: Instant) -> Bag:
        """The answer at an instant that has passed: all changes up to it. The first time, Spark must say the same."""
        known = query in self._changes
        bag: Bag = Counter()
        for (at, row), count in self._all_changes(query).items():
            if at <= t:
                bag[row] += count
        bag = Counter({row: count for row, count in bag.items() if count})
        if not known:
            asked = Counter(self._rows(query, self.runs[query].answer(t).toArrow()))
            if asked != bag:
                raise DataError(f"{query} at {t}: answer() gives {asked}, but the changes add up to {bag}")
        return bag

    def changes(self, query: str) -> list[Change]:
        """The signed rows since the last call."""
        now, before = self._all_changes(query), self._reported.get(query, Counter())
        self._reported[query] = now
        news = {key: now[key] - before[key] for key in {*now, *before}}
        return [Change(t, 1 if n > 0 else -1, row) for (t, row), n in news.items() for _ in range(abs(n))]

    def late(self, stream: str) -> list[Arrive]:
        """The rows of a stream that came too late; every query over it must have the same."""
        entry = self._catalog.get(stream)
        assert isinstance(entry, Stream)
        found = [
            [Arrive(entry.name, row.pop("_time"), read_row(entry.schema, row, stream)) for row in run.late(entry.name)]
            for name, run in self.runs.items()
            if entry.name in self._queries[name][1]
        ]
        if any(Counter(rows) != Counter(found[0]) for rows in found):
            raise DataError(f"queries over {stream} differ in its late rows: {found}")
        return found[0] if found else []

    def close(self) -> None:
        """Stop all queries."""
        for run in self.runs.values():
            run.stop()

    def _all_changes(self, query: str) -> Counter[tuple[Instant, Row]]:
        """By instant and row; what was there before anything happened shows at the first instant."""
        if query not in self._changes:
            table = self.runs[query].changes().toArrow()
            times, signs = (table.column(i).cast("int64").to_pylist() for i in (0, 1))
            net: Counter[tuple[Instant, Row]] = Counter()
            for t, sign, row in zip(
                times, signs, self._rows(query, table.select(range(2, table.num_columns))), strict=True
            ):
                net[self._first.get(query, BEGINNING) if t is None else t, row] += sign
            self._changes[query] = Counter({key: count for key, count in net.items() if count})
        return self._changes[query]

    def _rows(self, query: str, table: pa.Table) -> list[Row]:
        schema = self._queries[query][0].schema
        columns = [c.cast("int64") if f.type in _TIMES else c for c, f in zip(table.columns, schema, strict=True)]
        return list(zip(*(column.to_pylist() for column in columns), strict=True))


def _array(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """Times are ticks in rows."""
    is_time = pa.types.is_timestamp(type_) or pa.types.is_duration(type_)
    return pa.array(values, pa.int64()).cast(type_) if is_time else pa.array(values, type_)
