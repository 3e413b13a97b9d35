"""Restoring the state of a join from its files, against reading the files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import pyarrow as pa

from thalweg.runtime.distributed.checkpoint.store import ShardStore
from thalweg_benchmarks.result import Result
from thalweg_benchmarks.state.new_strings import pipeline_of, step, strings

TUPLES, BATCH, TIMES = 1_000_000, 50_000, 5
TWICE = 2.0  # the time of reading the bytes
_QUERY = "SELECT s.name, t.v FROM s [RANGE {n}] JOIN t [RANGE 10] ON s.name = t.name"


def run(quick: bool = False) -> Iterator[Result]:
    """The ratios, for tuples with few and with many strings."""
    tuples = TUPLES // (10 if quick else 1)
    for distinct, target in ((1_000, TWICE), (tuples, None)):
        restored, read, size = _timed(tuples, distinct)
        detail = {"restore_ms": restored * 1e3, "read_ms": read * 1e3, "bytes": size}
        case = f"restore {tuples:,} tuples with {distinct:,} strings / read their bytes"
        yield Result(case, restored / read, target, detail=detail)


def _timed(tuples: int, distinct: int) -> tuple[float, float, int]:
    query = _QUERY.format(n=2 * tuples)
    names, pipeline = strings(0, distinct), pipeline_of(query)
    for first in range(0, tuples, BATCH):
        step(pipeline, first, BATCH, names.take(pa.array(np.arange(first, first + BATCH) % distinct)))
    with TemporaryDirectory() as folder:
        ShardStore(Path(folder)).save(0, pipeline.snapshot())
        times, reading = [], []
        for _ in range(TIMES):
            fresh = pipeline_of(query)
            began = process_time()
            fresh.restore(ShardStore(Path(folder)).load(0))
            times.append(process_time() - began)
            began = process_time()
            size = sum(len(path.read_bytes()) for path in Path(folder).iterdir())
            reading.append(process_time() - began)
        return min(times), min(reading), size
