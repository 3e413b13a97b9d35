"""One Spark for all tests of this folder that ask for it, on a Java that is found or was brought along."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from thalweg.runtime.spark.api.java import java_home

# A Java that lives for minutes must not spend them on making code fast that will hardly be used again. Of itself it
# then keeps room for 48 MB of compiled code, and fails when hundreds of queries have filled it; else it keeps 240.
BRIEFLY = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"

SETTINGS = {
    "spark.driver.extraJavaOptions": BRIEFLY,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests that use Spark go to one worker (`--dist loadgroup`), so that it is started once."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A local Spark of two cores."""
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Workers import the code that is tested, installed or not, and the tests beside it.
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, sys.path)))
    builder = SparkSession.builder.master("local[2]").appName("thalweg tests")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    warehouse: Path = tmp_path_factory.mktemp("warehouse")
    session = builder.config("spark.sql.warehouse.dir", str(warehouse)).getOrCreate()
    yield session
    session.stop()
