"""Would catch a reference that is wrong: every plan's answer at every instant, computed again by DuckDB."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from reference.oracle.one_time import Oracle
from reference.oracle.tables import close
from strategies.effort import examples
from strategies.plans import OPERATORS, cases
from thalweg.core.rows import Bag, Dated
from thalweg.reference.evaluate import Reference

AFTERWARDS = 14  # ticks after the last event: the longest drawn window has emptied


@pytest.mark.parametrize("root", OPERATORS)
@examples(25)
@given(data=st.data())
def test_the_reference_gives_the_one_time_answer_at_every_instant(root: str, data: st.DataObject) -> None:
    plan, history = data.draw(cases(root=root, in_sql=True))
    reference, oracle = Reference(plan, history), Oracle(history)
    end = history.last + AFTERWARDS
    for t in [-5, *reference.instants(end), end]:
        note(f"t={t}: reference {reference.tuples(t)}, DuckDB {oracle.tuples(plan, t)}")
        assert close(reference.answer(t), oracle.answer(plan, t))
        assert close(_with_dates(reference.tuples(t)), _with_dates(oracle.tuples(plan, t)))


def _with_dates(tuples: list[Dated]) -> Bag:
    return Counter((*d.row, d.ts, d.exp) for d in tuples)
