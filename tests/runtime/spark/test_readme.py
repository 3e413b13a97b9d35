"""Would catch a README whose Spark code does not run, or gives another answer than it should."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from runtime.spark.sinks.databases import bag, select
from thalweg.runtime.spark.sinks import sqlite

README = Path(__file__).parents[3] / "README.md"


def test_the_readme_s_spark_code(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = re.findall(r"## On Spark\n.*\n```python\n((?:.|\n)*?)```", README.read_text())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls").mkdir()
    rows = [("07:04:00", "elbe", 10), ("07:04:50", "elbe", 5), ("07:05:01", "main", 7), ("07:05:06", "lena", 1)]
    lines = [f'{{"ts": "2026-01-31T{t}Z", "src": "{src}", "bytes": {bytes_}}}' for t, src, bytes_ in rows]
    (tmp_path / "calls" / "1.json").write_text("\n".join(lines))
    code = code.replace('"calls/"', repr(str(tmp_path / "calls")))  # Java stays where it was started
    code = code.replace('idle="30 seconds"', 'idle="1 hour"')  # a busy machine may need more than that for the rows
    names: dict[str, Any] = {"spark": spark}
    exec(code, names)
    assert sorted(map(tuple, names["run"].answer().collect())) == [("elbe", 5), ("main", 7)]
    assert sorted(map(tuple, names["run"].answer("2026-01-31 07:04:55").collect())) == [("elbe", 15)]
    assert bag(select(sqlite("calls.db"), "SELECT src, total, _count FROM busy")) == {("elbe", 5): 1, ("main", 7): 1}
