"""Would catch a global aggregate on Spark that one shard computes alone, or that forgets its parts at a restart."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from thalweg.runtime.distributed.checkpoint.checksums import sealed_json
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query import SparkQuery

HIGHEST = """
WITH bids AS (SELECT bidder, price FROM bid [RANGE 10 SECONDS SLIDE 10 SECONDS]),
     highest AS (SELECT MAX(price) AS price, COUNT(*) AS n FROM bids)
SELECT bidder, bids.price, n FROM bids JOIN highest ON bids.price = highest.price
"""
ONCE = {"availableNow": True}
FIRST, LAST = range(35), range(35, 70)


def query(spark: SparkSession, folder: Path, shards: int) -> SparkQuery:
    engine = Engine(spark, shards=shards, groups=6)
    engine.stream("bid", spark.readStream.schema("ts timestamp, bidder long, price long").json(str(folder / "bid")))
    return engine.query(HIGHEST)


def price(i: int) -> int:
    return i * 7 % 11


def write(folder: Path, seconds: range) -> None:
    """Two rows a second."""
    rows = [
        {"ts": f"2026-01-01T00:{i // 60:02}:{i % 60:02}Z", "bidder": i + 1000 * twin, "price": price(i)}
        for i in seconds
        for twin in (0, 1)
    ]
    (folder / "bid").mkdir(exist_ok=True)
    (folder / "bid" / f"{seconds.start}.json").write_text("\n".join(map(json.dumps, rows)))


def expected(now: int) -> Counter[tuple[int, int, int]]:
    """What the window of the ten seconds up to the last whole ten holds."""
    end = now // 10 * 10
    seconds = range(end - 9, end + 1)
    highest = max(map(price, seconds))
    return Counter((i + 1000 * twin, highest, 20) for i in seconds for twin in (0, 1) if price(i) == highest)


def emitted(found: SparkQuery, checkpoint: Path) -> Counter[tuple[int, int, int]]:
    run = found.start(checkpoint, trigger=ONCE)
    run.wait_until_done()
    return Counter((r.bidder, r.price, r.n) for r in run.answer().collect())


def test_parts_are_put_together_where_they_are_wanted(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, FIRST)
    found = query(spark, tmp_path, 2)
    text = found.explain()
    assert "GroupBy of a part" in text and "a copy for every group" in text and "one shard" not in text
    assert emitted(found, tmp_path / "checkpoint") == expected(FIRST[-1])
    write(tmp_path, LAST)
    assert emitted(query(spark, tmp_path, 3), tmp_path / "checkpoint") == expected(LAST[-1])


def test_a_checkpoint_that_knows_no_parts_goes_on_without(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, FIRST)
    with monkeypatch.context() as older:
        older.setattr("thalweg.runtime.spark.api.request.PARTIAL_AGGREGATES_FROM_TICKS", None)
        assert emitted(query(spark, tmp_path, 2), tmp_path / "checkpoint") == expected(FIRST[-1])
    path = tmp_path / "checkpoint" / "query.json"
    about = json.loads(path.read_text())
    del about["pinned_choice"]["in_parts"]
    del about["checksum"]
    path.write_bytes(sealed_json(about))
    write(tmp_path, LAST)
    assert emitted(query(spark, tmp_path, 2), tmp_path / "checkpoint") == expected(LAST[-1])
