"""Would catch a reference that is wrong: every plan's answer at every instant, computed again by DuckDB."""

from __future__ import annotations

from hypothesis import HealthCheck, given, note, settings
from oracle.one_time import Oracle
from oracle.tables import close

from strategies.plans import cases
from thalweg.algebra.plan import Plan
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History

AFTERWARDS = 14  # ticks after the last event: the longest drawn window has emptied


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_the_reference_gives_the_one_time_answer_at_every_instant(case: tuple[Plan, History]) -> None:
    plan, history = case
    reference, oracle = Reference(plan, history), Oracle(history)
    end = history.last + AFTERWARDS
    for t in [-5, *reference.instants(end), end]:
        found, expected = reference.answer(t), oracle.answer(plan, t)
        note(f"t={t}: reference {found}, DuckDB {expected}")
        assert close(found, expected)
