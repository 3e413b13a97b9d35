"""What is there before anything happens is no change; would catch ISTREAM that emits a count of zero."""

from __future__ import annotations

import pytest

import thalweg as tw


@pytest.mark.parametrize(
    ("operator", "emitted"),
    [("ISTREAM", [(3, 1, (1,)), (5, 1, (0,))]), ("DSTREAM", [(3, 1, (0,)), (5, 1, (1,))]),
     ("RSTREAM", [(3, 1, (1,)), (5, 1, (0,))])],
)  # fmt: skip
@pytest.mark.parametrize("strategy", ["auto", "nt", "reference"])
def test_a_count_of_zero_stands_before_the_first_instant(operator: str, emitted: object, strategy: str) -> None:
    s = tw.local()
    s.execute("CREATE STREAM s (a INT)")
    q = s.query(f"{operator}(SELECT COUNT(*) FROM s [RANGE 2])", strategy=strategy)
    s.advance(1)
    assert q.changes() == []
    s.push("s", [(3, 7)])
    s.advance(9)
    assert q.changes() == emitted
