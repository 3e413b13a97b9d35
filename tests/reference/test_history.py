"""Would catch a history that keeps rows in the order in which they were added, or counts table rows wrongly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.errors import DataError
from thalweg.core.rows import Arrival, Dated
from thalweg.core.time import BEGINNING, FOREVER
from thalweg.reference.history import History


def test_arrivals_stand_in_order_of_ts_then_of_coming() -> None:
    history = History()
    history.arrive("s", 5, ("late",))
    history.arrive("s", 3, ("early",))
    history.arrive("s", 5, ("tie",))
    assert history.stream("s") == [Arrival(3, 1, ("early",)), Arrival(5, 0, ("late",)), Arrival(5, 2, ("tie",))]
    assert history.stream("s", 4) == [Arrival(3, 1, ("early",))]
    assert history.stream("s", 2) == []
    assert history.stream("unheard of") == []


@given(st.lists(st.integers(0, 5)), st.integers(-1, 6))
def test_a_stream_at_t_is_a_stable_sort_of_what_has_come(times: list[int], t: int) -> None:
    history = History()
    for number, ts in enumerate(times):
        history.arrive("s", ts, (number,))
    expected = sorted((ts, number) for number, ts in enumerate(times) if ts <= t)
    assert [(a.ts, a.row[0]) for a in history.stream("s", t)] == expected


def test_a_relation_is_a_bag_that_includes_the_updates_at_t() -> None:
    history = History()
    history.insert("r", 1, ("x",))
    history.insert("r", 1, ("x",))
    history.delete("r", 4, ("x",))
    history.update("r", 6, ("x",), ("y",))
    shown = {t: [d.row for d in history.relation("r", t)] for t in (0, 1, 3, 4, 5, 6)}
    assert shown == {0: [], 1: [("x",)] * 2, 3: [("x",)] * 2, 4: [("x",)], 5: [("x",)], 6: [("y",)]}


def test_relation_rows_never_decide_a_date() -> None:
    history = History()
    history.insert("r", 7, (1, None))
    assert history.relation("r", 7) == [Dated((1, None), BEGINNING, FOREVER)]


def test_updates_may_come_late() -> None:
    history = History()
    history.insert("r", 9, ("b",))
    history.insert("r", 2, ("a",))
    assert [(u.t, u.sign, u.row) for u in history.updates("r", 9)] == [(2, 1, ("a",)), (9, 1, ("b",))]
    assert [d.row for d in history.relation("r", 5)] == [("a",)]


def test_what_is_not_there_cannot_be_deleted() -> None:
    history = History()
    history.insert("r", 5, ("a",))
    with pytest.raises(DataError, match=r"relation r has no row \('a',\) to delete at 4"):
        history.delete("r", 4, ("a",))
    history.delete("r", 8, ("a",))
    with pytest.raises(DataError):  # at 6 there is one, but the delete at 8 needs it
        history.delete("r", 6, ("a",))
    assert [d.row for d in history.relation("r", 6)] == [("a",)]


def test_it_says_from_when_on_it_has_changed() -> None:
    history = History()
    assert (history.last, history.size) == (BEGINNING, 0)
    history.arrive("s", 5, (1,))
    mark = history.size
    assert history.unchanged_before(mark) == FOREVER
    history.arrive("s", 9, (1,))
    history.insert("r", 3, (1,))
    assert history.unchanged_before(mark) == 3
    assert history.last == 9
