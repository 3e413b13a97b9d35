"""Would catch a drawing of a window that shows a tuple at an instant at which an engine does not, or hides one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thalweg as tw
from strategies.effort import examples

WINDOWS = (
    "NOW", "RANGE UNBOUNDED", "RANGE 3", "RANGE 4 SLIDE 2", "RANGE 3 SLIDE 3", "RANGE 2 SLIDE 5 START AT 1", "ROWS 2",
    "ROWS 3 SLIDE 2", "RANGE 2 ON k", "PARTITION BY k ROWS 1", "PARTITION BY k ROWS 2 RANGE 4 SLIDE 2",
    "UNBOUNDED START AT 4", "UNTIL 4", "FROM 3 UNTIL 5",
)  # fmt: skip


def read(drawing: str) -> list[set[int]]:
    """At which instants each tuple of a drawing is in, by what stands below the numbers of the ruler."""
    _, ruler, *lines = drawing.split("\n")
    ends = {int(word[0]): word.end() for word in re.finditer(r"\d+", ruler)}
    tuples = [line for line in lines if not line.startswith(("holds", "moves"))]
    return [{t for t, end in ends.items() if line[end - 1 : end] == "●"} for line in tuples]


@examples(25)
@given(st.sampled_from(WINDOWS), st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4)), min_size=1, max_size=6))
def test_a_drawing_shows_what_the_engine_answers(window: str, arrivals: list[tuple[int, int]]) -> None:
    rows = sorted(arrivals, key=lambda row: row[0])
    session = tw.local()
    session.execute("CREATE STREAM s (k INT, n INT)")
    query = session.query(f"SELECT n FROM s [{window}]")
    session.push("s", [(t, k, n) for n, (t, k) in enumerate(rows)])
    session.advance(14)
    drawn = read(tw.timeline(window, rows if " k" in window else [t for t, _ in rows], until=14))
    instants = range(rows[0][0], 15)
    assert drawn == [{t for t in instants if (n,) in query.answer(t)} for n in range(len(rows))]


def test_what_stays_has_an_arrow_and_what_leaves_next_has_none() -> None:
    assert tw.timeline("RANGE 3", [1, 2], until=3).split("\n")[2:] == [
        "at 1   ●──●──●",
        "at 2      ●──●─→",
        "holds  1  2  2",
    ]


def test_instants_of_three_digits_keep_their_distance() -> None:
    assert tw.timeline("RANGE 2", [99], until=101) == "\n".join([
        "[RANGE 2]",
        "t      99 100 101",
        "at 99   ●───●",
        "holds   1   1   0",
    ])  # fmt: skip


def test_without_arrivals_some_are_made_up_that_fit_the_window() -> None:
    assert "at 6" in tw.timeline("ROWS 1")
    assert "25 at 6" in tw.timeline("PARTITION BY a ROWS 1")
    assert "25, 25 at 6" in tw.timeline("PARTITION BY a, b ROWS 1")


@pytest.mark.parametrize(
    ("window", "arrivals", "until", "message"),
    [
        ("RANGE 5 MINUTES", [1], None, "take plain numbers"),
        ("RANGE 5 ON a", [1], None, "an instant and a value for a"),
        ("RANGE 5", [(1, 2)], None, "the window names no column"),
        ("RANGE 500", [1], None, "1 to 60 can be drawn"),
        ("RANGE 5", [], None, "needs tuples"),
        ("RANGE 5", [3], 2, "0 instants"),
        ("RANG 5", [1], None, "does not start a window"),
        ("RANGE 5 ON a", [(1, "x"), (2, 3)], None, "needs a number"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_a_way_out(
    window: str, arrivals: list[int | tuple[int, int]], until: int | None, message: str
) -> None:
    with pytest.raises(tw.ThalwegError) as refused:
        tw.timeline(window, arrivals, until)
    assert message in str(refused.value)
    assert refused.value.hint
