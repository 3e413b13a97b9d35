"""Would catch an EXPLAIN that does not say where a query runs, and tables that travel with every task."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.files import map_file
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.inputs import Late

QUERY = """
SELECT f.name, COUNT(*) AS n FROM c [RANGE 5 SECONDS], f, g [RANGE 5 SECONDS]
WHERE c.protocol = f.protocol AND c.bytes > 5 AND c.protocol = g.protocol GROUP BY f.name
"""


def engine_of(spark: SparkSession, folder: Path, late: Late = "whole", rows: int = 2) -> Engine:
    engine = Engine(spark, shards=3)
    for name in ("c", "g"):
        (folder / name).mkdir(parents=True)
    frame = spark.readStream.schema("ts timestamp, protocol string, bytes int, dst string").json(str(folder / "c"))
    engine.stream("c", frame, keep_late=late)
    changes = spark.readStream.schema("at date, protocol string").json(str(folder / "g"))
    engine.stream("g", changes, timestamp="at")
    names = [f"protocol {number}" for number in range(rows)]
    engine.relation("f", spark.createDataFrame(pa.table({"protocol": names, "name": names, "size": [1.0] * rows})))
    return engine


@pytest.mark.parametrize(
    ("late", "jvm", "python"),
    [
        ("whole", "ts, protocol, bytes (int to bigint), dst; time from ts", "; only for late rows: ts, dst"),
        ("needed", "protocol, bytes (int to bigint); time from ts; left behind: ts, dst", ""),
    ],
)
def test_explain_says_what_runs_where(spark: SparkSession, tmp_path: Path, late: Late, jvm: str, python: str) -> None:
    query = engine_of(spark, tmp_path, late).query(QUERY)
    plan, _, rest = query.explain().rpartition("\n\n")
    assert plan.startswith("operator")
    read = "  in Python: rows without a time or too late go to a side output, the others to their shards"
    assert (
        rest.splitlines()
        == [
            f"stream c, in the JVM: {jvm}",
            f"{read} if c.bytes > 5{python}",  # the rules have brought the selection down to the stream
            "stream g, in the JVM: at (date to timestamp), protocol; time from at",
            f"{read}; only for late rows: at",
            "table f, in the JVM: protocol, name, size",
            "  read once, when the query first starts; tasks then read the checkpoint's copy",
            *rest.splitlines()[6:],
        ]
    )
    stages = [line for line in rest.splitlines()[6:] if line.startswith("stage")]
    assert len(stages) == 2 and all(" x 3, in Python: " in line for line in stages)
    assert "Join" in stages[0] and "GroupBy" in stages[1]
    assert "  in: c by protocol" in rest.splitlines()
    explained = query.explain(format="json")
    assert [stream["stream"] for stream in explained["streams"]] == ["c", "g"]
    assert [table["table"] for table in explained["tables"]] == ["f"]
    assert [stage["stage"] for stage in explained["stages"]] == [0, 1]


def test_explain_shows_the_selection_that_rows_meet_when_they_are_read(spark: SparkSession, tmp_path: Path) -> None:
    query = engine_of(spark, tmp_path).query("SELECT ts FROM c [RANGE 5 SECONDS] WHERE bytes > 5")
    read = "  in Python: rows without a time or too late go to a side output, the others to their shards"
    assert f"{read} if c.bytes > 5; only for late rows: protocol, dst" in query.explain().splitlines()
    assert query.explain(format="json")["streams"][0]["selection"] == "c.bytes > 5"


def test_a_table_is_read_from_the_checkpoint_and_does_not_travel_with_tasks(
    spark: SparkSession, tmp_path: Path
) -> None:
    sizes = []
    for rows in (1, 50_000):
        query = engine_of(spark, tmp_path / str(rows), rows=rows).query(QUERY)
        job = query._job(Checkpoint(tmp_path / f"{rows}" / "checkpoint"))
        sizes.append(len(cloudpickle.dumps(job.query.run_spec.stages)))  # type: ignore[no-untyped-call]
        held = map_file(Path(job.query.tables["f"]))
        assert held.size > rows * 20
    assert abs(sizes[1] - sizes[0]) < 100
    with pytest.raises(CheckpointError, match="nowhere is missing"):
        map_file(tmp_path / "nowhere")
