"""Every scenario file on the local engine, fed whole and in pieces.

Catches an answer that is wrong at some instant, a change that is missing, superfluous or dated wrongly, and anything
that depends on how much was read at a time. The expectations were worked out by hand from docs/semantics.md and the
papers; the last test sees to it that each file would notice an engine that lags.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from thalweg.algebra.plan import DStream, IStream, RStream, is_nrr
from thalweg.core.errors import PlanError
from thalweg.core.rows import Bag, Change
from thalweg.core.time import Instant
from thalweg.patterns.derive import derive
from thalweg.patterns.pattern import Expiry
from thalweg.runtime.local import LocalQuery
from thalweg.scenarios import Advance, LocalEngine, Scenario, parse_scenario, run_scenario
from thalweg.scenarios.bind import bind_scenario

FILES = sorted(Path(__file__).parent.glob("*.scenario"))


def read(path: Path) -> Scenario:
    return parse_scenario(path.read_text(encoding="utf-8"), path.name)


ANSWERED = [path for path in FILES if not read(path).refused]


class LaggingEngine(LocalEngine):
    """Shows everything one tick late, as an operator does that expires only when something arrives."""

    def answer(self, query: str, t: Instant) -> Bag:
        return super().answer(query, t - 1)

    def changes(self, query: str) -> list[Change]:
        return [change._replace(t=change.t + 1) for change in super().changes(query)]


@pytest.mark.parametrize("batch_size", [None, 1, 3], ids=["whole", "one by one", "by threes"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_local_engine_gives_what_the_scenario_says(path: Path, batch_size: int | None) -> None:
    mismatches = run_scenario(read(path), LocalEngine(), batch_size)
    assert not mismatches, "\n" + "\n".join(map(str, mismatches))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["nt", "ord", "direct", "nta", "time-message", "piggyback"])
@pytest.mark.parametrize("path", ANSWERED, ids=lambda path: path.stem)
def test_every_strategy_gives_what_the_scenario_says(path: Path, strategy: str) -> None:
    scenario = read(path)
    if strategy == "direct" and not has_known_ends(scenario):
        with pytest.raises(PlanError, match="the strategy direct cannot run this query"):
            run_scenario(scenario, LocalEngine(strategy=strategy))
        return
    mismatches = run_scenario(scenario, LocalEngine(strategy=strategy))
    assert not mismatches, "\n" + "\n".join(map(str, mismatches))


def prepared(scenario: Scenario, strategy: str = "auto") -> LocalEngine:
    engine = LocalEngine(strategy=strategy)
    engine.prepare(scenario.cql, scenario.name)
    return engine


def queries_of(scenario: Scenario) -> list[LocalQuery]:
    session = prepared(scenario).session
    return [session.get_query(query.name) for query in session.queries()]


def has_known_ends(scenario: Scenario) -> bool:
    """Whether no result of a query ends by an order or by a negative tuple alone."""
    plans = [node for query in queries_of(scenario) for node in query.plan.walk() if not is_nrr(node)]
    return all(derive(node).expiry not in (Expiry.ORDER, Expiry.NEGATIVE) for node in plans)


@pytest.mark.slow
@pytest.mark.parametrize("path", ANSWERED, ids=lambda path: path.stem)
def test_the_input_triggered_answer_is_right_where_the_time_is_known(path: Path) -> None:
    scenario = read(path)
    bound = bind_scenario(scenario)
    plans = [query.plan for query in queries_of(scenario)]
    if any(isinstance(node, IStream | DStream | RStream) for plan in plans for node in plan.walk()):
        with pytest.raises(PlanError, match="the strategy ita cannot run this query"):
            prepared(scenario, "ita")
        return
    late = any(stream.lateness is not None for stream in prepared(scenario).session.catalog.streams)
    for expected in bound.answers:
        for t in expected.instants:
            if late and t != bound.last:  # which rows are late depends on all that came before
                continue
            engine = prepared(scenario, "ita")
            engine.feed([*(event for event in bound.events if event.t <= t), Advance(t)])
            engine.session.get_query(expected.query).heartbeat()
            assert engine.answer(expected.query, t) == expected.bag


@pytest.mark.parametrize("path", ANSWERED, ids=lambda path: path.stem)
def test_a_lagging_engine_is_noticed(path: Path) -> None:
    assert run_scenario(read(path), LaggingEngine())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_scenario_says_what_it_is_about(path: Path) -> None:
    about = read(path).about
    assert about.endswith(".")
    assert len(about) > 20
