"""`--sample NAME=PATH`: statistics of streams and tables from rows in files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

import numpy as np
import pyarrow as pa

from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.algebra.statistics import SourceStatistics
from thalweg.cli.inputs import Inputs
from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.core.time import Clock
from thalweg.formats.recorded import arrivals, updates
from thalweg.optimizer.statistics import Statistics, sampled_stream, sampled_table

ROWS_TO_SAMPLE = 100_000  # of each stream


def sampled(catalog: Catalog, given: Sequence[tuple[str, str]], time_column: str = "ts") -> Statistics:
    """Statistics of the first rows of each stream, and of all rows of each table; bad rows are skipped."""
    files = Inputs(catalog, time_column, skip_bad_rows=True)
    for name, pattern in given:
        files.add(name, pattern)
    return Statistics({name: _of(files, name) for name in files.files})


def _of(files: Inputs, name: str) -> SourceStatistics:
    entry, paths, bad = files.catalog.get(name), files.files[name], files.bad[name]
    if isinstance(entry, Stream):
        found = chain.from_iterable(arrivals(entry, path, bad, files.time_column) for path in paths)
        events = list(islice(found, ROWS_TO_SAMPLE))
        times = np.array([event.ts for event in events], dtype=np.int64)
        return sampled_stream(_table(entry.schema, [event.row for event in events]), times)
    assert isinstance(entry, Relation), "Inputs has refused views"
    rows = [event.row for event in updates(entry, paths, bad, Clock.TIMESTAMPS)]
    return sampled_table(_table(entry.schema, rows), len(rows))


def _table(schema: Schema, rows: Sequence[Row]) -> pa.Table:
    columns = [pa.array([row[i] for row in rows], field.type.arrow) for i, field in enumerate(schema)]
    return pa.table(columns, names=list(schema.names))
