"""Would catch arrivals of the command line that are read as something else."""

from __future__ import annotations

import thalweg as tw
from cli.run import lines, refusal


def test_the_drawing_is_that_of_python() -> None:
    shown = lines("window", "RANGE 5 SLIDE 2", "--arrivals", "1 3 4", "--until", "12")
    assert "\n".join(shown) == tw.timeline("RANGE 5 SLIDE 2", arrivals=[1, 3, 4], until=12)
    assert "\n".join(lines("window", "[ROWS 2]")) == tw.timeline("ROWS 2")


def test_values_are_numbers_where_they_can_be() -> None:
    shown = lines("window", "RANGE 2 ON a", "--arrivals", "1=5 2=6.5 3=9")
    assert "\n".join(shown) == tw.timeline("RANGE 2 ON a", arrivals=[(1, 5), (2, 6.5), (3, 9)])
    shown = lines("window", "PARTITION BY a, b ROWS 1", "--arrivals", "1=x,1 2=x,2")
    assert "\n".join(shown) == tw.timeline("PARTITION BY a, b ROWS 1", arrivals=[(1, "x", 1), (2, "x", 2)])


def test_mistakes_are_refused() -> None:
    assert "x does not start with an instant" in refusal("window", "ROWS 2", "--arrivals", "1 x")
    assert "does not start a window" in refusal("window", "RANG 2")
