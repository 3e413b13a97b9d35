"""Would catch a tutorial or an example whose Spark code does not run, or gives another answer than it says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]


def test_the_tutorial_s_spark_code(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = (ROOT / "docs" / "tutorial.md").read_text().partition("## 10.")[2]
    monkeypatch.chdir(tmp_path)
    shown: list[list[tuple[Any, ...]]] = []
    frame = type(spark.range(0))  # DataFrames of this session
    monkeypatch.setattr(frame, "show", lambda self, *_: shown.append(sorted(map(tuple, self.collect()))))
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n((?:.|\n)*?)```", part)
    assert len(blocks) == 3
    for block in blocks:  # Java stays where it was started
        exec(block.replace('"calls/"', repr(str(tmp_path / "calls"))), names)
    answers = [rows for rows in shown if len(rows[0]) == 2]
    assert answers == [[("elbe", 5), ("main", 7)], [("elbe", 15)], [("elbe", 5), ("lena", 1), ("main", 7)]]
    said = [re.findall(r"(\w+) (\d+)", text.rpartition(":")[2]) for text in re.findall(r"show\(\)  # (.+)", part)]
    assert [sorted((name, int(total)) for name, total in each) for each in said] == answers


def test_the_example_of_sensors(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(SparkSession, "stop", lambda self: None)  # others go on with it
    runpy.run_path(str(ROOT / "examples" / "sensors_on_spark.py"))
    up_to, hot = capsys.readouterr().out.splitlines()[-2:]
    assert up_to.startswith("up to 2026-01-01 00:00:19.999") and "batch 1," in up_to
    assert hot.startswith("11 hot sensors, hottest first: [(43, 18.95), ")
