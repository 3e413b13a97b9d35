"""Would catch an option of a source that the command line refuses or loses."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from thalweg.algebra.catalog import Catalog
from thalweg.cli.sources import parse_source
from thalweg.core.errors import ThalwegError
from thalweg.cql import compile_script
from thalweg.runtime.distributed.ingest.quota import Quota
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.tools.command_line_sources import declare_given


@pytest.mark.parametrize("kind", ["json", "csv", "zeek"])
def test_limits_can_be_given_on_the_command_line(kind: str, spark: SparkSession, tmp_path: Path) -> None:
    catalog = Catalog()
    compile_script("CREATE STREAM s (a INT);", catalog)
    limits = "longest_line=1000&remember_files=5&side_output_rows=3&side_output_bytes=9"
    engine = Engine(spark)
    declare_given(engine, catalog, {"s": parse_source(f"s={kind}:{tmp_path}?{limits}")})
    assert engine._streams["s"].time.quota == Quota(3, 9)
    for wrong in ("remember_files=0", "longest_line=0", "files=1", "side_output_rows=-1"):
        with pytest.raises(ThalwegError):
            declare_given(Engine(spark), catalog, {"s": parse_source(f"s={kind}:{tmp_path}?{wrong}")})
