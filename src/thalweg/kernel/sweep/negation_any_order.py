"""Negation of values whose left tuples come or go in any order.

Take the events one by one. The answer is the first c = n - m alive tuples; let z be the c-th of them. An event adds or
takes away at most one tuple: a left tuple x that comes, or a right one that goes, adds min(x, z) with z as it is after
the event; a left tuple x that goes, or a right one that comes, takes away min(x, z) with z as it was before. (A right
tuple counts as an x behind all others.) `nth_alive` finds z for all events together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.core.lanes import Ints, Lane
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.sweep.left_tuples import LeftTuples, Moves
from thalweg.kernel.sweep.levels import Changes, net_intervals
from thalweg.kernel.sweep.negation_in_order import Found, Turns
from thalweg.kernel.sweep.order_statistics import nth_alive
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.sweep.segments import run_ends, run_starts, slices_to_rows, sums_within


class _Kinds(NamedTuple):
    """The kinds of tuples (alike in dates and row) of some values, in order: code, lanes, how many alive at first."""

    code: Ints
    lanes: list[Lane]
    alive: Ints


class _Events(NamedTuple):
    """Events: of which value, when, at which kind (`shift` how many come), and how many right tuples come."""

    code: Ints
    time: Ints
    kind: Ints
    shift: Ints
    weight: Ints


def sweep_any_order(
    left: LeftTuples, codes: Ints, moves: Moves, turns: Turns, before: Instant, now: Instant
) -> tuple[Found, tuple[Ints, Ints, Ints]]:
    """The changes of the answer for `codes` (sorted); and as time, weight and code what must count as right later."""
    kinds, moved = _kinds(left, codes, moves, before)
    shifts, total = _shifts(left, kinds, moved, moves, now)
    at_first = np.full(len(codes), BEGINNING), np.zeros(len(codes), dtype=np.int64)
    quiet = _Events(codes, *at_first, at_first[1], at_first[1])  # the answer before the first event
    none = np.zeros(len(turns.time), dtype=np.int64)
    turned = _Events(turns.code, turns.time, none, none, turns.weight)
    events = _Events(*(np.concatenate(lanes) for lanes in zip(quiet, shifts, turned, strict=True)))
    order = order_by(events.code, events.time, -events.weight)  # right ones come before they go: never fewer than none
    events = _Events(*(lane[order] for lane in events))
    right = left.queues.last[codes] - left.top.values[codes]
    changes, right = _changes(kinds, events, right)
    kind, start, end, sign = net_intervals(changes, left.until(kinds.lanes[0]))
    found = Found([lane[kind] for lane in kinds.lanes], start, end, sign)
    _keep(left, codes, kinds, np.where(left.until(kinds.lanes[0]) > now, total, 0), right)
    missing = np.flatnonzero((total < 0) & (left.until(kinds.lanes[0]) > now))
    missing = np.repeat(missing, -total[missing])  # events move one tuple at a time
    return found, (kinds.lanes[0][missing], np.full(len(missing), -1), kinds.code[missing])


def _kinds(left: LeftTuples, codes: Ints, moves: Moves, before: Instant) -> tuple[_Kinds, Ints]:
    """The kinds among the alive tuples and the moves, and the kind of each move."""
    queues = left.queues
    held = queues.last[codes] - queues.first[codes]
    code = np.repeat(codes, held)
    lanes = queues.read(queues.slots(code, slices_to_rows(queues.first[codes] + 1, held)))
    alive = left.until(lanes[0]) > before
    code = np.concatenate([code[alive], moves.code])
    lanes = [np.concatenate([lane[alive], moved]) for lane, moved in zip(lanes, moves.lanes, strict=True)]
    order = order_by(code, *lanes[: left.dates], *left.row_order(lanes))
    starts = run_starts(code[order], *(lane[order] for lane in left.identities(lanes)))
    kind = np.empty(len(order), dtype=np.int64)
    kind[order] = np.cumsum(starts) - 1
    first = order[starts]
    old = len(order) - len(moves.code)
    counts = np.bincount(kind[:old], minlength=len(first))
    return _Kinds(code[first], [lane[first] for lane in lanes], counts), kind[old:]


def _shifts(left: LeftTuples, kinds: _Kinds, moved: Ints, moves: Moves, now: Instant) -> tuple[_Events, Ints]:
    """The moves and the ends by time alone as events, and how many of each kind the moves leave.

    Without dates a negative tuple may end otherwise than the tuple it cancels. Then its own kind has too few, and
    what is missing counts as right tuples: for copies of a row, n - 1 - m is n - (m + 1).
    """
    total = kinds.alive.copy()
    np.add.at(total, moved, moves.delta)
    until = left.until(kinds.lanes[0])
    ending = np.flatnonzero((until <= now) & (total != 0))
    copies = np.abs(total[ending])
    kind = np.concatenate([moved, np.repeat(ending, copies)])
    time = np.concatenate([moves.time, np.repeat(until[ending], copies)])
    delta = np.concatenate([moves.delta, np.repeat(-np.sign(total[ending]), copies)])
    order = order_by(kind, time)
    kind, time, delta = kind[order], time[order], delta[order]
    count = kinds.alive[kind] + sums_within(delta, run_starts(kind))
    shift = np.maximum(count, 0) - np.maximum(count - delta, 0)
    return _Events(kinds.code[kind], time, kind, shift, shift - delta), total


def _changes(kinds: _Kinds, events: _Events, right: Ints) -> tuple[Changes, Ints]:
    """What the answer gains and loses of which kind and when; and the right tuples in the end."""
    code, time, kind, shift, weight = events
    starts = run_starts(code)
    first = np.flatnonzero(starts)
    size = np.diff(np.append(first, len(code)))
    place = np.searchsorted(kinds.code, code[first])  # where the kinds of each value begin
    alive = np.append(0, np.cumsum(kinds.alive))
    behind = np.searchsorted(kinds.code, code[first], side="right")
    rights = np.repeat(right, size) + sums_within(weight, starts)
    lefts = np.repeat(alive[behind] - alive[place], size) + sums_within(shift, starts)
    shifted = np.cumsum(shift) - shift
    earlier = np.repeat(alive[place] + shifted[first], size)  # alive of the values before, when their events are done
    answer = lefts - rights
    last = nth_alive(kinds.alive, kind, shift, np.where(answer > 0, earlier + answer, 1))
    mover = np.where(shift != 0, kind, len(kinds.code))
    gains = np.flatnonzero((shift > 0) | (weight < 0))
    gains = gains[answer[gains] > 0]
    losses = np.flatnonzero((shift < 0) | (weight > 0))
    losses = losses[answer[losses - 1] > 0]
    changed = np.concatenate([np.minimum(mover[gains], last[gains]), np.minimum(mover[losses], last[losses - 1])])
    signs = np.repeat(np.array([1, -1]), (len(gains), len(losses)))
    return Changes(changed, np.concatenate([time[gains], time[losses]]), signs), rights[run_ends(starts)]


def _keep(left: LeftTuples, codes: Ints, kinds: _Kinds, total: Ints, right: Ints) -> None:
    """The queues of these values anew."""
    copies = np.maximum(total, 0)
    counts = np.zeros(len(codes), dtype=np.int64)
    np.add.at(counts, np.searchsorted(codes, kinds.code), copies)
    left.queues.replace(codes, counts, [np.repeat(lane, copies) for lane in kinds.lanes])
    left.top.values[codes] = counts - right
