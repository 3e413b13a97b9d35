"""Would catch an error that is as long as the data that it quotes."""

from __future__ import annotations

import pytest

import thalweg as tw
from thalweg.core.errors import DataError, NameNotFoundError, ThalwegError, shortened
from thalweg.core.source_text import SourceText, Span


def test_a_name_of_a_megabyte_gives_a_short_error() -> None:
    session = tw.local()
    session.execute("CREATE STREAM s (a INT)")
    for text in (f"SELECT {'x' * 10**6} FROM s", f"SELECT a, {'x' * 10**6} FROM s", f"SELECT a FROM {'x' * 10**6}"):
        with pytest.raises(ThalwegError) as caught:
            session.query(text)
        assert len(str(caught.value)) < 4_000
        assert "xxx... 998," in str(caught.value)


def test_many_candidates_are_cut_off() -> None:
    error = NameNotFoundError("no", candidates=[f"column_{i}" for i in range(100_000)], hint="y" * 10**6)
    assert len(str(error)) < 5_000
    assert "column_49 and 99,950 more" in str(error)
    assert error.candidates[-1] == "column_99999", "programs get all"


def test_a_short_text_is_whole() -> None:
    assert shortened("x" * 2_000) == "x" * 2_000
    assert str(DataError("what", candidates=["a", "b"], hint="do")) == "what\ncandidates: a, b\nhint: do"


@pytest.mark.parametrize("start", [0, 10, 199, 200, 201, 5_000, 9_990])
def test_the_caret_stays_under_its_place_in_a_long_line(start: int) -> None:
    text = "".join(chr(ord("a") + i % 26) for i in range(10_000))
    caret = Span(SourceText("first\n" + text), 6 + start, 6 + start + 5).caret()
    place, shown, mark = caret.splitlines()
    assert place.endswith(f"query:2:{start + 1}") and len(shown) < 420
    assert shown[mark.index("^") : mark.rindex("^") + 1] == text[start : start + 5]


def test_many_columns_are_declared_in_a_moment() -> None:
    """10,000 columns took seven seconds, and 100,000 a hundred times as many."""
    session = tw.local()
    session.execute(f"CREATE STREAM s ({', '.join(f'c{i} INT' for i in range(10_000))})")
    with pytest.raises(ThalwegError, match="the column C9 is declared twice"):
        session.execute(f"CREATE STREAM t ({', '.join(f'c{i} INT' for i in range(10))}, C9 INT)")
