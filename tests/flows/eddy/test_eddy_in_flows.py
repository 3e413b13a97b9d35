"""Would catch queries of an eddy that another one's function takes down, or that lose their way after a restart."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import thalweg as tw
from thalweg.algebra.catalog import Catalog
from thalweg.algebra.codec import Functions
from thalweg.core.batch import Batch
from thalweg.core.lanes import to_lane
from thalweg.cql import compile_script, register
from thalweg.flows.eddy_backend import EddyBackend
from thalweg.flows.engine import FlowEngine
from thalweg.flows.standing import Standing


@tw.function(returns=bool, takes=int)
def unlucky(n: int) -> bool:
    if n == 13:
        raise ValueError("no")
    return n % 2 == 0


Row = tuple[int, int, int]
STREAMS = "CREATE STREAM s (a INT, b INT); CREATE STREAM t (a INT, b INT);"
QUERIES = {
    "plain": "SELECT a FROM s [RANGE 5] WHERE b > 2",
    "risky": "SELECT a FROM s [RANGE 5] WHERE unlucky(b)",
    "shown": "SELECT unlucky(a) AS u FROM s [RANGE 5]",
    "joined": "SELECT s.a, t.b FROM s [RANGE 5] JOIN t [RANGE 9] ON s.a = t.a WHERE unlucky(t.b)",
    "counted": "SELECT a, COUNT(*) AS n FROM s [RANGE 5] WHERE unlucky(b) GROUP BY a",
}


def plans() -> dict[str, Standing]:
    catalog = Catalog()
    register(catalog, unlucky)
    compile_script(STREAMS, catalog)
    return {name: Standing(name, compile_script(cql, catalog)[-1].plan) for name, cql in QUERIES.items()}


def batch(engine: FlowEngine, *rows: tuple[int, int, int]) -> Batch:
    times, *columns = zip(*rows, strict=True)
    lanes = [to_lane(pa.array(column), plans()["plain"].plan.schema[0].type, engine.pool) for column in columns]
    return Batch.of_arrivals(lanes, np.array(times, dtype=np.int64))


def test_only_those_who_call_it_fail() -> None:
    engine = FlowEngine()
    for standing in plans().values():
        engine.add(standing, 0)
    gains = engine.process({"s": batch(engine, (1, 1, 4)), "t": batch(engine, (1, 1, 6))}, 1)
    assert set(gains) == {"plain", "risky", "shown", "joined", "counted"}
    gains = engine.process({"s": batch(engine, (2, 2, 13), (2, 3, 14))}, 2)
    assert set(gains) == {"plain"}
    assert len(gains["plain"]) == 2
    assert set(engine.suspended) == {"risky", "shown", "joined", "counted"}  # in an eddy, all that call what raised
    assert "unlucky" in engine.suspended["risky"].reason.lower()
    assert set(engine.process({"s": batch(engine, (3, 7, 8))}, 3)) >= {"plain"}


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_an_eddy_goes_on_from_a_snapshot(cut: int) -> None:
    batches = [{"s": [(1, 1, 4)], "t": [(1, 1, 6)]}, {"t": [(2, 1, 8)]}, {"s": [(3, 1, 2)], "t": [(3, 2, 4)]}]
    found = []
    for stops in (False, True):
        engine = FlowEngine()
        for standing in plans().values():
            engine.add(standing, 0)
        engine.drop("shown")
        results: dict[str, int] = {}
        for now, feeds in enumerate(batches, start=1):
            if stops and now - 1 == cut:
                tree = pickle.loads(pickle.dumps(engine.snapshot()))
                engine = FlowEngine(functions=Functions.of([unlucky]))
                engine.restore(tree)
            gains = engine.process({name: batch(engine, *rows) for name, rows in feeds.items()}, now)
            for query, gained in gains.items():
                results[query] = results.get(query, 0) + len(gained)
        found.append(results)
    assert found[0] == found[1]
    assert found[0]["joined"] == 4


def test_an_engine_that_went_on_is_taken_back_to_a_snapshot() -> None:
    """As a process does that has a flow's queries already: nothing is built anew, nothing of later batches stays."""
    batches = [
        {"s": [(1, 1, 4)], "t": [(1, 1, 6)]},
        {"s": [(2, 1, 6)], "t": [(2, 1, 8)]},
        {"s": [(3, 1, 2), (3, 2, 8)]},
    ]
    engine = FlowEngine(functions=Functions.of([unlucky]))
    for standing in plans().values():
        engine.add(standing, 0)
    trees, gained = [], []
    for now, feeds in enumerate(batches, start=1):
        trees.append(pickle.loads(pickle.dumps(engine.snapshot())))
        gained.append(_shown(engine, feeds, now))
    for back in (2, 0, 1):
        assert engine.has_queries_of(trees[back])
        engine.restore(trees[back])
        assert [_shown(engine, batches[i], i + 1) for i in range(back, 3)] == gained[back:]


def _shown(
    engine: FlowEngine, feeds: dict[str, list[tuple[int, int, int]]], now: int
) -> dict[str, list[tuple[Any, ...]]]:
    gains = engine.process({name: batch(engine, *rows) for name, rows in feeds.items()}, now)
    rows = {
        q: list(zip(*(c.tolist() for c in (*g.columns, g.start, g.end, g.sign)), strict=True)) for q, g in gains.items()
    }
    return {query: sorted(some) for query, some in rows.items()}


def test_an_eddy_takes_what_selects_projects_and_joins() -> None:
    engine, asked = FlowEngine(), plans()
    eddy = EddyBackend(engine.pool)
    taken = {name for name, standing in asked.items() if eddy.takes(standing.plan, engine._cohort(False, 0))}
    assert taken == {"plain", "risky", "shown", "joined"}
