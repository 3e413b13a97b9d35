"""Would catch a label that promises more than the reference's answers keep.

The papers prove their labels for the plans they show; here they are put to the test for plans drawn at random, over
histories drawn at random, at every instant.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from patterns.drawn import plans
from strategies.effort import examples
from thalweg.algebra.plan import Plan
from thalweg.core.rows import Bag, Dated
from thalweg.patterns import Expiry, ExpiryOrder, Pattern, derive
from thalweg.patterns.derive import group_columns
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History

END = 14
Event = tuple[str, int, int, int]
EVENTS: st.SearchStrategy[list[Event]] = st.lists(
    st.tuples(st.sampled_from(["s1", "s1", "s2", "s2", "n"]), st.integers(0, 8), st.integers(0, 3), st.integers(0, 1)),
    min_size=10,
    max_size=14,
)
PATIENT = examples(200)


def history_of(events: list[Event], until: int = END) -> History:
    """The history of all events up to an instant."""
    history = History()
    for name, t, a, b in events:
        if t <= until:
            (history.insert if name == "n" else history.arrive)(name, t, (a, b))
    return history


def labelled(holds: Callable[[Plan], bool], *, streams: bool = True) -> st.SearchStrategy[Plan]:
    """Plans whose label makes a promise."""
    return plans(streams=streams, relations=False, depth=2).filter(holds)


@PATIENT
@given(labelled(lambda p: derive(p).pattern is Pattern.MON), EVENTS)
def test_a_monotonic_answer_only_grows(plan: Plan, events: list[Event]) -> None:
    reference = Reference(plan, history_of(events))
    before: Bag = reference.answer(-1)
    for t in range(END):
        now = reference.answer(t)
        assert before <= now
        before = now


@PATIENT
@given(labelled(lambda p: derive(p).expiry is Expiry.TIME, streams=False), EVENTS, st.integers(0, 8))
def test_a_known_exp_is_not_moved_forward_by_what_arrives_later(plan: Plan, events: list[Event], t: int) -> None:
    """At t it is known what time alone will leave of the answer; all of that is still there when more has arrived."""
    foreseen, full = Reference(plan, history_of(events, t)), Reference(plan, history_of(events))
    for later in range(t, END):
        assert foreseen.answer(later) <= full.answer(later)


@PATIENT
@given(labelled(lambda p: derive(p).expiry_order is ExpiryOrder.FIFO and derive(p).pattern is not Pattern.MON), EVENTS)
def test_a_fifo_answer_loses_its_oldest_rows_first(plan: Plan, events: list[Event]) -> None:
    reference = Reference(plan, history_of(events))
    before: list[Dated] = []
    for t in range(END):
        now = reference.tuples(t)
        gone = list(before)
        for kept in now:
            if kept in gone:
                gone.remove(kept)
        stayed = [tuple_ for tuple_ in before if tuple_ in now]
        assert all(old.ts <= young.ts for old in gone for young in stayed)
        before = now


@PATIENT
@given(labelled(lambda p: derive(p).expiry is Expiry.REPLACEMENT), EVENTS)
def test_an_answer_kept_by_replacement_has_one_row_per_group(plan: Plan, events: list[Event]) -> None:
    columns = group_columns(plan)
    assert columns is not None
    reference = Reference(plan, history_of(events))
    for t in range(END):
        groups = [tuple(row[i] for i in columns) for row in reference.answer(t).elements()]
        assert len(groups) == len(set(groups))
