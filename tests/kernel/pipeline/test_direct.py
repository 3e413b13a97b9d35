"""Would catch DIRECT giving a wrong answer: whatever it does not refuse it must answer exactly (U4)."""

from __future__ import annotations

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from kernel.test_against_reference import AFTERWARDS, allowed, events_of, feed
from reference.oracle.tables import close
from strategies.effort import examples
from strategies.plans import cases
from thalweg.algebra.plan import Plan
from thalweg.core.errors import PlanError
from thalweg.core.time import BEGINNING
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.kernel.pipeline.strategy import check_strategy
from thalweg.reference.evaluate import Reference
from thalweg.runtime.local.kernel_run import KernelRun

# The operators over which some plan has known ends only.
ROOTS = ("window", "window over derived", "select", "project", "union", "join", "semi-join", "distinct", "group-by",
         "NRR join", "istream", "derived stream")  # fmt: skip


def has_known_ends(plan: Plan) -> bool:
    try:
        check_strategy(plan, Strategy.DIRECT)
    except PlanError:
        return False
    return allowed(plan)


@pytest.mark.parametrize("root", ROOTS)
@examples(15)
@given(data=st.data())
def test_direct_gives_the_references_answer(root: str, data: st.DataObject) -> None:
    plan, history = data.draw(cases(root=root).filter(lambda case: has_known_ends(case[0])))
    batch = data.draw(st.sampled_from([1, 7, 1000, 1_000_000]), label="batch size")
    how = Settings(lazy=data.draw(st.sampled_from([0, 1, 5]), label="lazy"))
    reference = Reference(plan, history)
    run = KernelRun(plan, BEGINNING, Strategy.DIRECT, batch, how)
    for event in events_of(plan, history):
        feed(run, event)
    end = max(history.last, 0) + AFTERWARDS
    for t in [*reference.instants(end), end]:
        wanted, got = reference.answer(t), run.answer(t, end)
        note(f"t={t}: reference {wanted}, direct {got}")
        assert close(wanted, got)
