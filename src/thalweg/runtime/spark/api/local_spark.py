"""Starts a local Spark, for users who give the engine none, and for the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from thalweg.core.errors import DataError
from thalweg.runtime.spark.api.java import java_home

# Settings that the exchange and the checkpoint need, and settings that make small batches fast.
SETTINGS = {
    "spark.driver.host": "127.0.0.1",  # Java sends results to this address, and a machine's own name may not resolve
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}


def local_spark(cores: int | str = "*", **settings: str) -> SparkSession:
    """A local Spark session, on the Java that `java_home` finds; `settings` are further settings of Spark."""
    os.environ.setdefault("JAVA_HOME", str(java_home()))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores}]").appName("thalweg")
    for key, value in {**SETTINGS, **settings}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def quiet_spark(log: Path, shards: int) -> SparkSession:
    """A local Spark whose Java logs to a file instead of the terminal."""
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with _errors_to(log):
            return local_spark(**{"spark.sql.shuffle.partitions": str(shards)})
    except Exception as error:
        raise DataError(f"Spark does not start: {error}", hint=f"see {log}") from error


@contextmanager
def _errors_to(path: Path) -> Iterator[None]:
    """Processes that start inside the block keep the file as their standard error."""
    saved = os.dup(2)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(file)
