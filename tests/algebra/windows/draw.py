"""What the window tests share: one letter per arrival, and what a window shows at each instant."""

from __future__ import annotations

from collections.abc import Iterable

from thalweg.algebra.windows import BaseWindow, Window
from thalweg.core.rows import Arrival, Row, Value


def arrivals(timeline: str) -> list[Arrival]:
    """`"a.bc"`: a arrives at 1, nothing at 2, b at 3, c at 4; `(de)` means that d and e arrive together."""
    found: list[Arrival] = []
    t, together = 0, False
    for sign in timeline.replace(" ", ""):
        if sign in "()":
            together = sign == "("
            t += together
            continue
        t += not together
        if sign != ".":
            found.append(Arrival(t, len(found), (sign,)))
    return found


def keyed(*rows: tuple[int, Value]) -> list[Arrival]:
    """Arrivals from (ts, value) pairs."""
    return [Arrival(ts, seq, (value,)) for seq, (ts, value) in enumerate(rows)]


def rows_at(window: BaseWindow, given: list[Arrival], t: int) -> list[Row]:
    """What the window shows at `t`, as rows."""
    return [a.row for a in window.contents([a for a in given if a.ts <= t], t)]


def shown(window: Window, given: list[Arrival], instants: Iterable[int]) -> str:
    """What the window shows at each instant, as letters: `"a ab b -"`."""
    states = ("".join(str(row[0]) for row in rows_at(window, given, t)) for t in instants)
    return " ".join(state or "-" for state in states)
