"""Scenarios on Spark: here a sample, with `make spark-scenarios` all of them in one, two and five shards.

Would catch what the shards without Spark (tests/runtime/distributed) cannot: rows lost or put in another order between
sources, exchanges, tasks and the files of the answer; types that Spark has otherwise; commands that do not arrive.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from runtime.spark.spark_engine import SparkEngine
from thalweg.runtime.spark.api.engine import Engine
from thalweg.scenarios import parse_scenario, run_scenario

FOLDER = Path(__file__).parents[2] / "scenarios"
SAMPLE = (
    "format-every-type-of-value",  # every type of value, there and back
    "GolabOzsu2005-nrr-update-at-the-same-instant",  # NRR join
    "GhanemEtAl2007-figure1-count-of-favourites",  # relation, group-by, an exchange between two stages
    "GhanemEtAl2007-minus-case3-right-arrives",  # negation
    "PatroumpasSellis2011-figure5a-join-over-row-windows",  # ROWS: numbered in one shard, then joined
    "trap-lateness-of-timestamps",  # lateness, timestamps
    "trap-not-in-with-null",  # three stages: messages that pass through one
    "trap-partitioned-window-with-range",  # PARTITION BY
    "trap-query-over-a-table-alone",  # a key of two columns; updates and deletes; no stream at all
    "trap-window-on-an-istream",  # ISTREAM
)
# Refused while it runs: see tests/runtime/distributed/test_scenarios_in_shards.py for what happens instead.
EVERY = sorted(path.stem for path in FOLDER.glob("*.scenario") if not path.stem.startswith("refused-"))
ALL = os.environ.get("THALWEG_SPARK_SCENARIOS") == "all"
SIDE_BY_SIDE = 3
NAMES = EVERY if ALL else SAMPLE
GROUPS = [NAMES[i : i + 10] for i in range(0, len(NAMES), 10)]


@pytest.mark.parametrize("shards", [1, 2, 5] if ALL else [2])
@pytest.mark.parametrize("names", GROUPS, ids=lambda names: f"{names[0]}...")
def test_spark_gives_what_the_scenario_says(
    names: tuple[str, ...], shards: int, spark: SparkSession, tmp_path: Path
) -> None:
    def run(name: str) -> list[str]:
        engine = SparkEngine(Engine(spark, shards=shards), tmp_path / name)
        try:
            scenario = parse_scenario((FOLDER / f"{name}.scenario").read_text(encoding="utf-8"), name)
            return [str(mismatch) for mismatch in run_scenario(scenario, engine)]
        finally:
            engine.close()

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        found = [mismatch for mismatches in pool.map(run, names) for mismatch in mismatches]
    assert not found, "\n" + "\n".join(found)
