"""A Spark for whoever brings none."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

from thalweg.runtime.spark.api.java import java_home

# What the exchange and the state files want, and what makes small batches quick.
SETTINGS = {
    "spark.driver.host": "127.0.0.1",  # large results travel through it, and a machine's own name may lead nowhere
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
    """A Spark in this process, on a Java that is found or was brought along; `settings` are more of Spark's own."""
    os.environ.setdefault("JAVA_HOME", str(java_home()))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores}]").appName("thalweg")
    for key, value in {**SETTINGS, **settings}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
