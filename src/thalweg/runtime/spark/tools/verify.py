"""Compares the answer of a running query with the one-time query over the windows' contents in Spark SQL.

The rows are read from the sources again, so the sources must be repeatable. The windows' contents at an instant follow
the windows' definition (`contents`); everything else is Spark's SQL.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from thalweg.algebra.expressions.render import Dialect
from thalweg.algebra.plan import Plan, RelationScan, StreamScan, Windowed
from thalweg.algebra.sql import one_time_sql
from thalweg.algebra.windows.base import LogicalWindow
from thalweg.core.errors import DataError
from thalweg.core.path_names import place_of
from thalweg.core.rows import Arrival
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.runtime.distributed.checkpoint.files import map_stream
from thalweg.runtime.distributed.exchange.codec import unpack
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.api.query_run import SparkQueryRun
from thalweg.runtime.spark.tools.reread import Reread

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Verdict:
    """The result of a comparison: missing rows and surplus rows."""

    at: Instant
    rows: int
    missing: list[Row]
    extra: list[Row]

    @property
    def equal(self) -> bool:
        """Whether the answer is right."""
        return not self.missing and not self.extra


class Verifier:
    """Verifies one query; rows that it reads from the sources are kept in `folder`."""

    def __init__(self, query: SparkQuery, folder: Path) -> None:
        self._query, self._spark = query, query.spark
        self._streams = {s.stream.name: Reread(self._spark, s, place_of(folder, s.stream.name)) for s in query.streams}

    def verify(self, run: SparkQueryRun, at: Any = None) -> Verdict:
        """Compare the answer at an instant, or now."""
        t = run.instant(at)
        if t <= BEGINNING:
            raise DataError("no row has come yet, so there is no instant to verify")
        return self._compare(t, run.answer(t), self._one_time(run, t))

    def _one_time(self, run: SparkQueryRun, t: Instant) -> DataFrame:
        views: list[str] = []

        def leaf(node: Plan) -> str:
            match node:
                case Windowed(child, window):
                    arrived = self._arrivals(run, child, t, views)
                    return self._view(_contents(arrived, child, window, t), views)
                case StreamScan(source):
                    rows = self._streams[source.name].rows(t, run.late(source.name))
                    return self._view(_until_forever(rows), views)
                case RelationScan(source):
                    return self._view(self._relation(run, source.name, source.retroactive, t), views)
            raise AssertionError(f"{node.label} is no leaf")

        sql = one_time_sql(self._query.plan, Dialect.SPARK, leaf)
        return self._spark.sql(sql)

    def _arrivals(self, run: SparkQueryRun, child: Plan, t: Instant, views: list[str]) -> pa.Table:
        """The tuples below a window in order of arrival: c0, c1, ..., ts_, and their number in exp_."""

        def leaf(node: Plan) -> str:
            if not isinstance(node, StreamScan):
                raise DataError(f"a window over {node.label} cannot be verified")
            return self._view(self._streams[node.source.name].rows(t, run.late(node.source.name)), views)

        rows = self._spark.sql(one_time_sql(child, Dialect.SPARK, leaf, dated=True)).toArrow()
        return rows.sort_by([("ts_", "ascending"), ("exp_", "ascending")])

    def _relation(self, run: SparkQueryRun, name: str, retroactive: bool, t: Instant) -> pa.Table:
        table = next(table for table in self._query.tables if table.relation.name == name)
        held = None if table.frame.isStreaming else unpack(map_stream(run.checkpoint.table(name)))
        if held is None or pc.any(pc.less(held.column("_sign"), 0)).as_py():
            raise DataError(f"{name} changes, and a query over a table that changes cannot be verified")
        width = len(table.relation.schema)
        columns = {f"c{i}": held.column(i) for i in range(width)}
        if retroactive:
            return pa.table(columns).filter(pc.less_equal(held.column("_time"), int(t)))
        ever = pa.array(np.full(held.num_rows, int(FOREVER)))
        return pa.table({**columns, "from_": pc.max_element_wise(held.column("_time"), int(BEGINNING)), "to_": ever})

    def _view(self, table: pa.Table, views: list[str]) -> str:
        name = f"thalweg_verify_{len(views)}"
        self._spark.createDataFrame(table).createOrReplaceTempView(name)
        views.append(name)
        return name

    def _compare(self, t: Instant, answer: DataFrame, wanted: DataFrame) -> Verdict:
        got, right = _bag(answer), _bag(wanted)
        extra, missing = [], sorted((right - got).elements(), key=repr)
        for row in sorted((got - right).elements(), key=repr):
            near = next((i for i, other in enumerate(missing) if _close(row, other)), None)
            if near is None:
                extra.append(row)
            else:
                del missing[near]
        return Verdict(t, got.total(), missing, extra)


def _contents(arrived: pa.Table, child: Plan, window: Any, t: Instant) -> pa.Table:
    """The contents of a window at t, with the end of each tuple in exp_."""
    times = arrived.column("ts_").to_numpy()
    if isinstance(window, LogicalWindow):
        scope = window.scope(t)
        kept = np.flatnonzero((times >= scope.first) & (times <= scope.last))
        ends = window.lifetimes(times[kept])[1]
    else:
        values = [_plain(arrived.column(i), f.type).to_pylist() for i, f in enumerate(child.schema)]
        rows = zip(*values, strict=True)
        arrivals = [Arrival(ts, i, row) for i, (ts, row) in enumerate(zip(times.tolist(), rows, strict=True))]
        held = window.contents(arrivals, t)
        kept = np.array([a.seq for a in held], dtype=np.int64)
        ends = np.array([window.expiry(a.ts) for a in held], dtype=np.int64)
    place = arrived.schema.get_field_index("exp_")
    return arrived.take(pa.array(kept)).set_column(place, "exp_", pa.array(ends, pa.int64()))


def _until_forever(rows: pa.Table) -> pa.Table:
    place = rows.schema.get_field_index("exp_")
    return rows.set_column(place, "exp_", pa.array(np.full(rows.num_rows, int(FOREVER))))


def _plain(column: pa.ChunkedArray, type_: DataType) -> pa.ChunkedArray:
    """Times and intervals as ticks, as the windows' definitions have them."""
    return column.cast(pa.int64()) if type_ in (DataType.TIMESTAMP, DataType.INTERVAL) else column


def _bag(frame: DataFrame) -> Counter[Row]:
    table = frame.toArrow()
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _close(one: Row, other: Row) -> bool:
    """Equal up to the rounding of sums, which Spark adds in another order."""
    pairs = zip(one, other, strict=True)
    return all(a == b or (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b)) for a, b in pairs)
