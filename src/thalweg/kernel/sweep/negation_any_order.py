"""Negation for values whose left tuples arrive or leave in any order.

Consider the events one by one. The answer is the first c = n - m alive left tuples; let z be the c-th of them. An event
adds or removes at most one tuple of the answer. A left tuple x that arrives, or a right tuple that leaves, adds
min(x, z) with z after the event. A left tuple x that leaves, or a right tuple that arrives, removes min(x, z) with z
before the event. (For a right tuple, x is greater than all tuples.) `nth_alive` finds z for all events at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.core.lanes import Ints, Lane
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.sweep.levels import BagChanges, net_intervals
from thalweg.kernel.sweep.negation_in_order import LeftIntervals, RightEvents
from thalweg.kernel.sweep.negation_left import LeftEvents, NegationLeft
from thalweg.kernel.sweep.order_statistics import nth_alive
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.sweep.segments import run_ends, run_starts, slices_to_rows, sums_within


class _Kinds(NamedTuple):
    """The kinds of left tuples (equal dates and rows) of some values, in order: code, lanes, and how many are alive."""

    code: Ints
    lanes: list[Lane]
    alive: Ints


class _Events(NamedTuple):
    """Events: the value's code, when, the kind of left tuples, how many of these (`shift`) or right ones arrive."""

    code: Ints
    time: Ints
    kind: Ints
    shift: Ints
    weight: Ints


def sweep_any_order(
    left: NegationLeft, codes: Ints, left_events: LeftEvents, right_events: RightEvents, before: Instant, now: Instant
) -> tuple[LeftIntervals, tuple[Ints, Ints, Ints]]:
    """The changes of the answer for the ascending `codes`, and (times, weights, codes) of later right events.

    The later right events end the debts that `_shifts` explains.
    """
    kinds, kind_of_event = _kinds(left, codes, left_events, before)
    shifts, total = _shifts(left, kinds, kind_of_event, left_events, now)
    at_first = np.full(len(codes), BEGINNING), np.zeros(len(codes), dtype=np.int64)
    quiet = _Events(codes, *at_first, at_first[1], at_first[1])  # stands for the answer before the first event
    none = np.zeros(len(right_events.time), dtype=np.int64)
    rights = _Events(right_events.code, right_events.time, none, none, right_events.weight)
    events = _Events(*(np.concatenate(lanes) for lanes in zip(quiet, shifts, rights, strict=True)))
    order = order_by(events.code, events.time, -events.weight)  # arrivals first, so that no count is negative
    events = _Events(*(lane[order] for lane in events))
    right = left.queues.last[codes] - left.top.values[codes]
    changes, right = _changes(kinds, events, right)
    kind, start, end, sign = net_intervals(changes, left.until(kinds.lanes[0]))
    found = LeftIntervals([lane[kind] for lane in kinds.lanes], start, end, sign)
    _replace_queues(left, codes, kinds, np.where(left.until(kinds.lanes[0]) > now, total, 0), right)
    missing = np.flatnonzero((total < 0) & (left.until(kinds.lanes[0]) > now))
    missing = np.repeat(missing, -total[missing])  # an event is about one tuple
    return found, (kinds.lanes[0][missing], np.full(len(missing), -1), kinds.code[missing])


def _kinds(left: NegationLeft, codes: Ints, events: LeftEvents, before: Instant) -> tuple[_Kinds, Ints]:
    """The kinds of the alive tuples and of the events' tuples, and the kind of each event."""
    queues = left.queues
    queued = queues.last[codes] - queues.first[codes]
    code = np.repeat(codes, queued)
    lanes = queues.read(queues.slots(code, slices_to_rows(queues.first[codes] + 1, queued)))
    alive = left.until(lanes[0]) > before
    code = np.concatenate([code[alive], events.code])
    lanes = [np.concatenate([lane[alive], new]) for lane, new in zip(lanes, events.lanes, strict=True)]
    order = order_by(code, *lanes[: left.dates], *left.row_order(lanes))
    starts = run_starts(code[order], *(lane[order] for lane in left.identities(lanes)))
    kind = np.empty(len(order), dtype=np.int64)
    kind[order] = np.cumsum(starts) - 1
    first = order[starts]
    old = len(order) - len(events.code)
    counts = np.bincount(kind[:old], minlength=len(first))
    return _Kinds(code[first], [lane[first] for lane in lanes], counts), kind[old:]


def _shifts(left: NegationLeft, kinds: _Kinds, kind: Ints, moves: LeftEvents, now: Instant) -> tuple[_Events, Ints]:
    """Arrivals, departures and the ends by time alone as events; and the number of tuples of each kind after them.

    Without dates a negative tuple may have another end than the tuple that it cancels. Then the number of its own
    kind becomes negative: a debt, which counts as right tuples, since for copies of a row n - 1 - m = n - (m + 1).
    """
    total = kinds.alive.copy()
    np.add.at(total, kind, moves.delta)
    until = left.until(kinds.lanes[0])
    ending = np.flatnonzero((until <= now) & (total != 0))
    copies = np.abs(total[ending])
    kind = np.concatenate([kind, np.repeat(ending, copies)])
    time = np.concatenate([moves.time, np.repeat(until[ending], copies)])
    delta = np.concatenate([moves.delta, np.repeat(-np.sign(total[ending]), copies)])
    order = order_by(kind, time)
    kind, time, delta = kind[order], time[order], delta[order]
    count = kinds.alive[kind] + sums_within(delta, run_starts(kind))
    shift = np.maximum(count, 0) - np.maximum(count - delta, 0)
    return _Events(kinds.code[kind], time, kind, shift, shift - delta), total


def _changes(kinds: _Kinds, events: _Events, right: Ints) -> tuple[BagChanges, Ints]:
    """The changes of the answer, and the number of right tuples of each value after all events."""
    code, time, kind, shift, weight = events
    starts = run_starts(code)
    first = np.flatnonzero(starts)
    size = np.diff(np.append(first, len(code)))
    place = np.searchsorted(kinds.code, code[first])  # the first kind of each value
    alive = np.append(0, np.cumsum(kinds.alive))
    behind = np.searchsorted(kinds.code, code[first], side="right")
    rights = np.repeat(right, size) + sums_within(weight, starts)
    lefts = np.repeat(alive[behind] - alive[place], size) + sums_within(shift, starts)
    shifted = np.cumsum(shift) - shift
    earlier = np.repeat(alive[place] + shifted[first], size)  # alive tuples of the values before, after their events
    answer = lefts - rights
    last = nth_alive(kinds.alive, kind, shift, np.where(answer > 0, earlier + answer, 1))
    mover = np.where(shift != 0, kind, len(kinds.code))
    gains = np.flatnonzero((shift > 0) | (weight < 0))
    gains = gains[answer[gains] > 0]
    losses = np.flatnonzero((shift < 0) | (weight > 0))
    losses = losses[answer[losses - 1] > 0]
    changed = np.concatenate([np.minimum(mover[gains], last[gains]), np.minimum(mover[losses], last[losses - 1])])
    signs = np.repeat(np.array([1, -1]), (len(gains), len(losses)))
    return BagChanges(changed, np.concatenate([time[gains], time[losses]]), signs), rights[run_ends(starts)]


def _replace_queues(left: NegationLeft, codes: Ints, kinds: _Kinds, total: Ints, right: Ints) -> None:
    """Write the queues of these values anew, in order."""
    copies = np.maximum(total, 0)
    counts = np.zeros(len(codes), dtype=np.int64)
    np.add.at(counts, np.searchsorted(codes, kinds.code), copies)
    left.queues.replace(codes, counts, [np.repeat(lane, copies) for lane in kinds.lanes])
    left.top.values[codes] = counts - right
