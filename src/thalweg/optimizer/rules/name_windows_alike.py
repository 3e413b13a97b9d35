"""[RANGE 1] = [NOW], [RANGE w SLIDE 1 START AT x] = [RANGE w], [UNBOUNDED START AT beginning] = [RANGE UNBOUNDED]."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.plan import Plan, Windowed
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Unbounded, Window
from thalweg.core.time import BEGINNING, FOREVER


def name_windows_alike(plan: Plan) -> Plan | None:
    """Windows with the same scope at every instant (PatroumpasSellis2011 §3) get one signature, to be shared."""
    match plan:
        case Windowed(stream, window):
            return Windowed(stream, _named(window))
    return None


def _named(window: Window) -> Window:
    match window:
        case Range(width=1, slide=1):
            return Now()
        case Range():
            return _range(window)
        case Landmark(start, end) if start <= BEGINNING and end >= FOREVER:
            return Unbounded()
        case PartitionedRows(keys, range=cut):
            return replace(window, keys=tuple(sorted(set(keys))), range=None if cut is None else _range(cut))
    return window


def _range(window: Range) -> Range:
    """Slides counted from any multiple are the same slides."""
    return replace(window, origin=window.origin % window.slide)
