"""Lets queries run for an hour of event time and looks whether anything grows.

    python -m faults.soak [--minutes 60] [--rate 50000] [--new-keys]      (make soak)

A 60 s sliding aggregate by source and a windowed DISTINCT over `connections`, as fast as it goes; with --new-keys a
third query whose keys and strings never come again. Every minute of event time it writes down the memory of the driver,
of Java and of the Python workers, and the size of the checkpoints. What is in the last quarter of the time beyond what
was in the second has leaked.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from dataclasses import astuple, dataclass, fields
from itertools import pairwise
from pathlib import Path
from statistics import mean

from pyspark.sql import DataFrame

from faults.processes import java, memory, workers
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg.runtime.spark.sources.generator import generator

QUERIES = {
    "aggregate": "SELECT src, COUNT(*) AS n, SUM(bytes) AS total FROM c [RANGE 60 SECONDS SLIDE 1 SECOND] GROUP BY src",
    "distinct": "SELECT DISTINCT src, protocol FROM c [RANGE 60 SECONDS]",
}
NEW_KEYS = {"new keys": "SELECT DISTINCT src || '-' || CAST(ts AS STRING) AS id FROM c [RANGE 10 SECONDS]"}
MINUTE = 60_000_000
SECONDS_PER_BATCH = 10
ALLOWED = 1.15  # so much more is still flat


@dataclass
class Sample:
    """Sizes in MB at some minute of event time."""

    minute: float
    seconds: float
    driver: float
    java: float
    workers: float
    state: float
    files: float
    spark_log: float


class Nowhere:
    """A sink that asks for everything and keeps nothing: what it kept would grow, as it should."""

    def write(self, changes: DataFrame, batch: int) -> None:
        """One micro-batch."""
        changes.write.format("noop").mode("overwrite").save()


def soak(top: Path, minutes: int, rate: float, queries: dict[str, str]) -> list[Sample]:
    """Samples, one for each minute of event time."""
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, sys.path)))
    spark = local_spark(2, **{"spark.driver.memory": "1g"})
    rows = int(minutes * 60 * rate)
    runs = []
    for name, text in queries.items():
        engine = Engine(spark, shards=2)
        frame = generator(
            spark, "connections", rows=rows, rows_per_batch=int(SECONDS_PER_BATCH * rate), partitions=2, rate=rate
        )
        engine.stream("c", frame, ahead=None)
        runs.append(
            engine.query(text).start(top / name.replace(" ", "-"), sink=Nowhere(), trigger={"availableNow": True})
        )
    samples: list[Sample] = []
    began, origin = time.monotonic(), None
    while any(run.query.isActive for run in runs):
        time.sleep(0.5)
        clocks = [run.clock_now for run in runs]
        now = min((t for t in clocks if t is not None), default=None)
        if now is None or None in clocks:
            continue
        origin = now if origin is None else origin
        minute = (now - origin) / MINUTE
        if minute >= len(samples):
            samples.append(_sample(top, minute, time.monotonic() - began))
            print(_line(samples[-1]), flush=True)
    for run in runs:
        run.wait_until_done()
    spark.stop()
    return samples


def _sample(top: Path, minute: float, seconds: float) -> Sample:
    gc.collect()
    me = os.getpid()
    state, files, log = 0, 0, 0
    for path in top.rglob("*"):
        try:
            size = path.stat().st_size if path.is_file() else None
        except FileNotFoundError:
            continue
        if size is None:
            continue
        if "state" in path.parts:
            state, files = state + size, files + 1
        else:
            log += size
    return Sample(
        minute,
        seconds,
        driver=memory(me) / 1e6,
        java=sum(map(memory, java(me))) / 1e6,
        workers=sum(map(memory, workers(me))) / 1e6,
        state=state / 1e6,
        files=files,
        spark_log=log / 1e6,
    )


def _line(sample: Sample) -> str:
    return "".join(f"{value:11.1f}" for value in astuple(sample))


def grown(samples: list[Sample]) -> dict[str, float]:
    """By what is measured, the last quarter over the second."""
    bounds = [len(samples) * i // 4 for i in range(5)]
    quarters = [samples[a:b] for a, b in pairwise(bounds)]
    names = [f.name for f in fields(Sample)][2:-1]  # Spark's log is not judged: it grows until it has 100 batches
    return {
        name: mean(getattr(s, name) for s in quarters[3]) / max(mean(getattr(s, name) for s in quarters[1]), 0.01)
        for name in names
    }


def main() -> None:
    """As a command; ends with an error if something has grown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--rate", type=float, default=50_000.0)
    parser.add_argument("--new-keys", action="store_true")
    parser.add_argument("--only", choices=[*QUERIES, *NEW_KEYS])
    options = parser.parse_args()
    queries = {**QUERIES, **(NEW_KEYS if options.new_keys else {})}
    if options.only:
        queries = {options.only: {**QUERIES, **NEW_KEYS}[options.only]}
    print("".join(f"{f.name:>11}" for f in fields(Sample)))
    with tempfile.TemporaryDirectory(prefix="thalweg-soak-") as top:
        samples = soak(Path(top), options.minutes, options.rate, queries)
    if len(samples) < 8:
        sys.exit("too short to tell whether anything grows")
    ratios = grown(samples)
    for name, ratio in ratios.items():
        print(f"{name}: last quarter / second quarter = {ratio:.2f} {'flat' if ratio <= ALLOWED else 'GROWS'}")
    sys.exit(any(ratio > ALLOWED for ratio in ratios.values()))


if __name__ == "__main__":
    main()
