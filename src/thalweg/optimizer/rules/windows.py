"""Rules about windows: one signature for windows that show the same, and fewer windows."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from thalweg.algebra.plan import Plan, Union, Windowed
from thalweg.algebra.windows import (
    Landmark,
    LogicalWindow,
    Now,
    PartitionedRows,
    Range,
    Rows,
    Unbounded,
    ValueRange,
    Window,
)
from thalweg.core.time import BEGINNING, FOREVER


def name_windows_alike(plan: Plan) -> Plan | None:
    """[RANGE 1] = [NOW]; [RANGE w SLIDE 1 START AT x] = [RANGE w]; [UNBOUNDED START AT beginning] = [RANGE UNBOUNDED].

    Windows with the same scope at every instant (PatroumpasSellis2011 §3) get one signature, so that equal sub-plans
    share them. Always valid.
    """
    match plan:
        case Windowed(stream, window):
            return Windowed(stream, _canonical(window))
    return None


def _canonical(window: Window) -> Window:
    match window:
        case Range(width=1, slide=1):
            return Now()
        case Range():
            return _canonical_range(window)
        case Landmark(start, end):
            return Unbounded() if start <= BEGINNING and end >= FOREVER else window
        case PartitionedRows(keys, range=cut):
            return replace(window, keys=tuple(sorted(set(keys))), range=None if cut is None else _canonical_range(cut))
        case Now() | Unbounded() | Rows() | ValueRange():
            return window
        case _:
            assert_never(window)


def _canonical_range(window: Range) -> Range:
    """Slides that start at `origin`, or any whole number of slides later, are the same slides."""
    return replace(window, origin=window.origin % window.slide)


def drop_unbounded_window(plan: Plan) -> Plan | None:
    """W_unbounded(S) = S.

    Always valid: an unbounded window shows all of the stream so far (PatroumpasSellis2011, definition 4).
    """
    match plan:
        case Windowed(stream, Unbounded()):
            return stream
    return None


def merge_windows_of_union(plan: Plan) -> Plan | None:
    """W_P(S1) U W_P(S2) = W_P(S1 U S2).

    One window instead of two (PatroumpasSellis2011 §5). Equal logical windows only: two windows `[ROWS n]` show up to
    2n tuples, one shows n.
    """
    match plan:
        case Union(Windowed(left, LogicalWindow() as window), Windowed(right, same)) if window == same:
            return Windowed(Union(left, right), window)
    return None
