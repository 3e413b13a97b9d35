"""A local Spark for tests, on a Java that is found or was brought along; tests/conftest.py has its fixture."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from runtime.spark.class_archive import archive_option
from thalweg.runtime.spark.api.java import java_home

# A Java that lives for minutes must not spend them on making code fast that will hardly be used again. Of itself it
# then keeps room for 48 MB of compiled code, and fails when hundreds of queries have filled it; else it keeps 240.
BRIEFLY = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
}


def python_path() -> str:
    """Where the Python of a Spark task, or of a program, finds the code under test, the tests and `sitecustomize`."""
    warm = Path(__file__).parent / "warm"
    return os.pathsep.join(dict.fromkeys([str(warm), *filter(None, sys.path)]))


def environment() -> dict[str, str]:
    """The environment of a program that starts a Spark of its own."""
    return {**os.environ, "PYTHONPATH": python_path(), "JAVA_TOOL_OPTIONS": f"{BRIEFLY} {archive_option()}"}


@contextmanager
def local_session(folder: Path, options: str | None = None) -> Iterator[SparkSession]:
    """A local Spark of two cores; its files are in a folder. Without `options` Java uses the archive of classes."""
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = python_path()
    builder = SparkSession.builder.master("local[2]").appName("thalweg tests")
    builder = builder.config("spark.driver.extraJavaOptions", f"{BRIEFLY} {options or archive_option()}")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    for name in ("local.dir", "sql.warehouse.dir"):
        (folder / name).mkdir()
        builder = builder.config(f"spark.{name}", str(folder / name))
    session = builder.getOrCreate()
    yield session
    session.stop()
