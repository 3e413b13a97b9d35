"""Every scenario file with its queries rewritten: answers and changes worked out by hand, from the papers' examples.

Would catch a rule that keeps answers but moves, adds or loses a change.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from thalweg.algebra.plan import Plan
from thalweg.kernel.pipeline import Settings
from thalweg.optimizer import rewrite
from thalweg.optimizer.statistics import Statistics
from thalweg.runtime.local import LocalQuery, Session
from thalweg.scenarios import LocalEngine, parse_scenario, run_scenario

FILES = sorted((Path(__file__).parents[1] / "scenarios").glob("*.scenario"))


class RewritingSession(Session):
    """Runs what becomes of each plan."""

    def _register(
        self,
        plan: Plan,
        name: str,
        cql: str,
        strategy: str,
        settings: Settings | None = None,
        statistics: Statistics | None = None,
    ) -> LocalQuery:
        as_it_is = Settings(optimize=False)  # what is rewritten already, and nothing else
        return super()._register(rewrite(plan).plan, name, cql, strategy, settings or as_it_is, statistics)


@pytest.mark.parametrize("strategy", ["auto", "nt", "piggyback"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_rewritten_queries_give_what_the_scenario_says(path: Path, strategy: str) -> None:
    scenario = parse_scenario(path.read_text(encoding="utf-8"), path.name)
    mismatches = run_scenario(scenario, LocalEngine(RewritingSession(today=date(1970, 1, 1)), strategy))
    assert not mismatches, "\n" + "\n".join(map(str, mismatches))
