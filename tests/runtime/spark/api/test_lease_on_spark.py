"""Would catch two drivers that run one checkpoint on Spark, and a lease that stays behind when a query stops."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from faults.program import OPTIONS
from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint import lease as leases
from thalweg.runtime.distributed.checkpoint.lease import Lease, read_lease
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query_run import SparkQueryRun
from thalweg.runtime.spark.sources.generator import generator


def start(spark: SparkSession, folder: Path, rows: int, take_over: bool = False) -> SparkQueryRun:
    engine = Engine(spark, shards=2)
    frame = generator(spark, "connections", rows=rows, rows_per_batch=50, partitions=2, **OPTIONS)
    engine.stream("connections", frame, ahead=None)
    query = engine.query("SELECT protocol, COUNT(*) AS n FROM connections [RANGE 2 SECONDS] GROUP BY protocol")
    return query.start(folder, trigger={"availableNow": True}, take_over=take_over)


def held(folder: Path) -> Lease:
    found = read_lease(folder)
    assert found is not None
    return found


def test_a_checkpoint_has_one_driver(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start(spark, tmp_path, 100).wait_until_done()
    assert held(tmp_path).released
    leases._save(tmp_path, replace(held(tmp_path), host="elsewhere", released=False, fence=7))
    with pytest.raises(CheckpointError, match=r"is in use: driver .* on host elsewhere"):
        start(spark, tmp_path, 200)
    run = start(spark, tmp_path, 200, take_over=True)
    run.wait_until_done()
    assert (held(tmp_path).fence, held(tmp_path).released) == (8, True)

    def overtaken(self: leases.HeldLease) -> None:
        """Called before a batch is written. The driver does not notice, but its shards do."""
        leases._save(tmp_path, replace(held(tmp_path), fence=99))

    monkeypatch.setattr(leases.HeldLease, "check", overtaken)
    with pytest.raises(CheckpointError, match="another driver has taken over"):
        start(spark, tmp_path, 250).wait_until_done()
