"""Would catch a flow whose state grows with the strings and keys that have passed, or with queries that are gone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from thalweg.algebra.catalog import Catalog
from thalweg.core.batch import Batch
from thalweg.core.forgetting import FORGETTING
from thalweg.core.time import Instant
from thalweg.cql import compile_query, compile_script
from thalweg.flows.engine import FlowEngine
from thalweg.flows.standing import Standing

QUERIES = {
    "selected": "SELECT name FROM s [RANGE 4] WHERE name <> 'x' AND k > 3",
    "joined": "SELECT s.name, t.k FROM s [RANGE 4] JOIN t [RANGE 4] ON s.name = t.name",
    "joined by two": "SELECT s.name FROM s [RANGE 4] JOIN t [RANGE 3] ON s.name = t.name AND s.k = t.k",
    "counted": "SELECT name, COUNT(*) AS n, MIN(name) AS low FROM s [RANGE 4] GROUP BY name",
    "last": "SELECT t.name, s.k FROM t [ROWS 50] JOIN s [ROWS 60] ON s.k = t.k",
}
PER_TICK = 300


@pytest.fixture(autouse=True)
def sweep_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in production, only with smaller numbers."""
    monkeypatch.setattr(FORGETTING, "every_batch", False)
    monkeypatch.setattr(FORGETTING, "least", 64)


class Flow:
    """A flow over two streams, with keys that never repeat."""

    def __init__(self) -> None:
        self.catalog = Catalog()
        compile_script("CREATE STREAM s (k INT, name STRING); CREATE STREAM t (k INT, name STRING);", self.catalog)
        self.engine = FlowEngine()

    def add(self, name: str, cql: str) -> None:
        self.engine.add(Standing(name, compile_query(cql, self.catalog), cql), self.engine.now)

    def run(self, now: Instant) -> dict[str, list[str | None]]:
        self.engine.forget_strings()
        key = np.arange(PER_TICK) + PER_TICK * now
        names = self.engine.pool.encode(pa.array([f"the name of the key {k}" for k in key.tolist()]))
        tuples = Batch.of_arrivals((key, names), np.full(PER_TICK, now))
        gained = self.engine.process({"s": tuples, "t": tuples}, now)
        return {
            query: self.engine.pool.decode(batch.columns[0]).to_pylist()
            for query, batch in gained.items()
            if query.startswith("literal")
        }


def test_a_flow_holds_what_its_windows_hold() -> None:
    long, fresh = Flow(), Flow()
    for flow, first in ((long, 0), (fresh, 72)):
        for name, cql in QUERIES.items():
            flow.add(name, cql)
        for now in range(first, 80):
            flow.run(now)
    assert len(long.engine.pool) <= 3 * len(fresh.engine.pool)
    assert long.engine.pool.nbytes <= 3 * fresh.engine.pool.nbytes
    eddies = [flow.engine._backends[0]._eddy._joining._coders._coders for flow in (long, fresh)]  # type: ignore[attr-defined]
    assert eddies[0].keys() == eddies[1].keys() and eddies[0]
    for types, table in eddies[0].items():
        assert table.size <= 3 * eddies[1][types].size


def test_the_constants_of_queries_stay_as_long_as_the_queries() -> None:
    flow = Flow()
    for n in range(40):  # each runs while others come and go, and hundreds of names pass
        wanted = f"the name of the key {PER_TICK * (n + 6)}"
        flow.add(f"literal {n}", f"SELECT name FROM s [NOW] WHERE name = '{wanted}'")
        flow.add(f"noise {n}", f"SELECT name FROM s [NOW] WHERE name <> 'nobody has the name {n}'")
        shown = flow.run(n)
        assert shown == ({f"literal {n - 6}": [f"the name of the key {PER_TICK * n}"]} if n >= 6 else {})
        flow.engine.drop(f"noise {n}")
        if n >= 7:
            flow.engine.drop(f"literal {n - 7}")
    for now in range(40, 60):
        flow.run(now)
    held = flow.engine.pool.decode(flow.engine.pool.codes()).to_pylist()
    # An index of predicates keeps the constants of the queries that left last until it is built anew, and the codes
    # after them, because it knows where values begin and end.
    assert sum(name.startswith("nobody") for name in held) < 20
