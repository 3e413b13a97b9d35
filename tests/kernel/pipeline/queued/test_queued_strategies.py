"""Would catch an operator that expires by a clock not its own, a message that is missing, and an answer that is late.

ITA is late by design: what it shows must be exactly what the answer was at some instant before, and once a tuple comes
through, what it is now.
"""

from __future__ import annotations

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from kernel.test_against_reference import AFTERWARDS, allowed, events_of, feed, summed
from kernel.walk import differences
from reference.oracle.tables import close
from strategies.effort import examples
from strategies.plans import OPERATORS, cases
from thalweg.algebra.plan import DStream, IStream, Plan, RStream
from thalweg.core.rows import Change
from thalweg.core.time import BEGINNING
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.reference.evaluate import Reference
from thalweg.runtime.local.queued_run import QueuedRun

EXACT = [Strategy.NTA, Strategy.TIME_MESSAGE, Strategy.PIGGYBACK]
SETTINGS = st.builds(
    Settings,
    scheduler=st.sampled_from(["fifo", "round-robin"]),
    slot=st.sampled_from([1, 2, 5]),
)


class Interrupted(QueuedRun):
    """Is taken down in the middle of an instant, between two steps of its scheduler, and set up again."""

    def __init__(self, plan: Plan, strategy: Strategy, batch: int, how: Settings, after: int | None) -> None:
        super().__init__(plan, BEGINNING, strategy, batch, how)
        self._plan, self._strategy, self._steps_left = plan, strategy, after

    def _work(self) -> bool:
        worked = super()._work()
        if self._steps_left is not None and worked:
            self._steps_left -= 1
            if self._steps_left < 0:
                self._steps_left = None
                before = self._network
                self.restart(self._plan, self._strategy)
                assert not list(differences(before, self._network))
        return worked


RESTARTS = st.none() | st.integers(0, 60)  # after so many steps


@pytest.mark.slow
@pytest.mark.parametrize("strategy", EXACT, ids=lambda s: s.value)
@pytest.mark.parametrize("root", OPERATORS)
@examples(15)
@given(data=st.data())
def test_queued_operators_give_the_references_answer(root: str, strategy: Strategy, data: st.DataObject) -> None:
    plan, history = data.draw(cases(root=root).filter(lambda case: allowed(case[0])))
    batch = data.draw(st.sampled_from([1_000_000, 1, 7, 1000, 2]), label="batch size")
    how = data.draw(SETTINGS, label="settings")
    read_often = data.draw(st.booleans(), label="read after each event")
    reference = Reference(plan, history)
    run = Interrupted(plan, strategy, batch, how, data.draw(RESTARTS, label="restart"))
    changes: list[Change] = []
    for event in events_of(plan, history):
        feed(run, event)
        if read_often:
            changes += run.changes(event[0], BEGINNING)
    end = max(history.last, 0) + AFTERWARDS
    changes += run.changes(end, BEGINNING)
    for t in [*reference.instants(end), end]:
        wanted, got = reference.answer(t), run.answer(t, end)
        note(f"t={t}: reference {wanted}, queued {got}")
        assert close(wanted, got)
        assert close(wanted, summed(changes, t)), f"changes up to {t}: {changes}"


VIEWS = [root for root in OPERATORS if "stream" not in root]


def shows_views(plan: Plan) -> bool:
    """Whether nothing remembers when changes were seen: such plans are refused, for ITA sees them late."""
    return not any(isinstance(node, IStream | DStream | RStream) for node in plan.walk())


@pytest.mark.parametrize("root", VIEWS)
@examples(15)
@given(data=st.data())
def test_the_input_triggered_answer_is_right_once_everybody_knows_the_time(root: str, data: st.DataObject) -> None:
    plan, history = data.draw(cases(root=root).filter(lambda case: allowed(case[0]) and shows_views(case[0])))
    how, restart = data.draw(SETTINGS, label="settings"), data.draw(RESTARTS, label="restart")
    run = Interrupted(plan, Strategy.ITA, data.draw(st.sampled_from([1, 7, 1000]), label="batch size"), how, restart)
    events = events_of(plan, history)
    stop = data.draw(st.integers(0, len(events)), label="drained after so many events")
    for event in events[:stop]:
        feed(run, event)
    if stop:
        run.heartbeat(events[stop - 1][0])
    for event in events[stop:]:
        feed(run, event)
    end = max(history.last, 0) + data.draw(st.integers(0, AFTERWARDS), label="ticks after the last event")
    run.heartbeat(end)
    wanted, got = Reference(plan, history).answer(end), run.answer(end, end)
    note(f"reference {wanted}, input-triggered {got}")
    assert close(wanted, got)


LINEAR = ("window", "select", "project", "distinct", "group-by", "top-k")


@pytest.mark.parametrize("root", LINEAR)
@examples(15)
@given(data=st.data())
def test_the_input_triggered_answer_is_an_earlier_one(root: str, data: st.DataObject) -> None:
    plan, history = data.draw(
        cases(root=root).filter(lambda case: allowed(case[0]) and shows_views(case[0]) and is_chain(case[0]))
    )
    reference = Reference(plan, history)
    run = QueuedRun(plan, BEGINNING, Strategy.ITA)
    end = max(history.last, 0) + AFTERWARDS
    for event in events_of(plan, history):
        feed(run, event)
    run.answer(end, end)
    instants = [BEGINNING - 1, *reference.instants(end), end]
    answers = [(t, Reference(plan, history).answer(t)) for t in instants]
    shown_at = BEGINNING - 1
    for t in instants[1:]:
        got = run.answer(t, end)
        fits = [u for u, wanted in answers if shown_at <= u <= t and close(wanted, got)]
        note(f"t={t}: shown {got}, at or after {shown_at}; answers {answers}")
        assert fits, "it shows what the answer never was, or goes back in time"
        shown_at = fits[0]


def is_chain(plan: Plan) -> bool:
    """Whether every operator has one input: else each branch has its own idea of the time."""
    return all(len(node.children) <= 1 for node in plan.walk())
