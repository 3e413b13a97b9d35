"""Would catch a kernel that is wrong: every plan, strategy and batch size against the reference, at every instant.

Between batches of a size the clock may stop inside an instant, and the answer there must be right too. And the pipeline
may be taken down there, and another one set up from its snapshot.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from reference.oracle.tables import close
from strategies.effort import examples
from strategies.plans import OPERATORS, cases
from thalweg.algebra.plan import Plan
from thalweg.core.errors import PlanError
from thalweg.core.rows import Bag, Change
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.kernel.pipeline.settings import ABOVE_NEGATION
from thalweg.kernel.tuning import Tuning
from thalweg.patterns import check
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History
from thalweg.runtime.local.kernel_run import KernelRun, LocalRun

AFTERWARDS = 14  # ticks after the last event: the longest drawn window has emptied


def events_of(plan: Plan, history: History) -> list[tuple[Instant, int, tuple[object, ...]]]:
    """Everything that happened, in order of time: arrivals as (ts, kind, (stream, row)), updates likewise."""
    names = {leaf.source.name for leaf in plan.walk() if hasattr(leaf, "source")}
    arrivals = [(a.ts, 0, (n, a.row)) for n in names for a in history.stream(n)]
    updates = [(u.t, 1, (n, u.sign, u.row)) for n in names for u in history.updates(n)]
    return sorted([*arrivals, *updates], key=lambda event: event[0])


def feed(run: LocalRun, event: tuple[Instant, int, tuple[object, ...]]) -> None:
    t, kind, what = event
    if kind == 0:
        run.arrive(what[0], t, what[1])  # type: ignore[arg-type]
    else:
        run.table_changed(what[0], t, what[1], what[2])  # type: ignore[arg-type]


def summed(changes: list[Change], until: Instant) -> Bag:
    bag: Bag = Counter()
    for change in changes:
        if change.t <= until:
            bag[change.row] += change.sign
    assert all(n >= 0 for n in bag.values()), "a row was taken back that had not been given"
    return Counter({row: n for row, n in bag.items() if n})


def allowed(plan: Plan) -> bool:
    try:
        check(plan)
    except PlanError:
        return False
    return True


@pytest.mark.parametrize("strategy", [Strategy.AUTO, Strategy.NT], ids=lambda s: s.value)
@pytest.mark.parametrize("root", OPERATORS)
@examples(15)
@given(data=st.data())
def test_the_kernel_gives_the_references_answer(root: str, strategy: Strategy, data: st.DataObject) -> None:
    plan, history = data.draw(cases(root=root).filter(lambda case: allowed(case[0])))
    batch = data.draw(st.sampled_from([1_000_000, 1, 7, 1000, 2]), label="batch size")
    read_often = data.draw(st.booleans(), label="read after each event")
    events = events_of(plan, history)
    restart = data.draw(st.none() | st.integers(0, len(events)), label="restart after so many events")
    reference = Reference(plan, history)
    above = data.draw(st.sampled_from(ABOVE_NEGATION), label="above a negation")
    in_parts = data.draw(st.sampled_from([None, 1]), label="aggregates in parts")
    piece = data.draw(st.sampled_from([1 << 16, 1, 3]), label="results in a piece")
    tuning = Tuning(pairs_at_once=piece, results_at_once=piece)
    run = KernelRun(plan, BEGINNING, strategy, batch, Settings(above_negation=above, in_parts=in_parts), tuning)
    changes: list[Change] = []
    for place, event in enumerate(events):
        feed(run, event)
        if read_often or place == restart:
            changes += run.changes(event[0], BEGINNING)
        if place == restart:
            run.restart(plan, strategy)
    end = max(history.last, 0) + AFTERWARDS
    changes += run.changes(end, BEGINNING)
    for t in [*reference.instants(end), end]:
        wanted, got = reference.answer(t), run.answer(t, end)
        note(f"t={t}: reference {wanted}, kernel {got}")
        assert close(wanted, got)
        assert close(wanted, summed(changes, t)), f"changes up to {t}: {changes}"
