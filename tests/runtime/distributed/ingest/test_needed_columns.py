"""Would catch a column that is left behind though the answer depends on it."""

from __future__ import annotations

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import thalweg as tw
from kernel.test_against_reference import AFTERWARDS, allowed
from reference.oracle.tables import close
from strategies.effort import examples
from strategies.plans import OPERATORS, cases
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History
from thalweg.runtime.distributed.ingest.needed import needed_columns


def without(history: History, needed: dict[str, frozenset[int]]) -> History:
    """The same, with NULLs in the columns of streams that are not needed."""
    pruned = History()
    for name, columns in needed.items():
        for arrival in history.stream(name):
            row = tuple(value if i in columns else None for i, value in enumerate(arrival.row))
            pruned.arrive(name, arrival.ts, row)
        for update in history.updates(name):
            (pruned.insert if update.sign > 0 else pruned.delete)(name, update.t, update.row)
    return pruned


@pytest.mark.parametrize("root", OPERATORS)
@examples(25)
@given(data=st.data())
def test_columns_that_are_not_needed_do_not_matter(root: str, data: st.DataObject) -> None:
    plan, history = data.draw(cases(root=root).filter(lambda case: allowed(case[0])))
    needed = needed_columns(plan)
    note(f"needed: {needed}")
    whole, pruned = Reference(plan, history), Reference(plan, without(history, needed))
    end = max(history.last, 0) + AFTERWARDS
    for t in [*whole.instants(end), end]:
        assert close(whole.answer(t), pruned.answer(t)), f"at {t}"


def test_a_sum_by_key_reads_what_it_names() -> None:
    s = tw.local()
    s.execute("CREATE STREAM s (ts TIMESTAMP, k INT, v INT, w INT, x INT) TIMESTAMP BY ts")
    plan = s.query("SELECT k, SUM(v) AS n FROM s [RANGE 5 SECONDS] WHERE w > 1 GROUP BY k").plan
    assert needed_columns(plan) == {"s": frozenset({1, 2, 3})}
