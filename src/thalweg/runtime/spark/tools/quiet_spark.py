"""A local Spark whose Java logs to a file instead of the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from thalweg.core.errors import DataError
from thalweg.runtime.spark.api.local_spark import local_spark


def quiet_spark(log: Path, shards: int) -> SparkSession:
    """A local Spark; the standard error of its Java goes to a file."""
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
