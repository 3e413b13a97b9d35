"""Reduced events: what many tuples change in a group at one instant, added up before the sweep.

A join with a hot key gives far more tuples than its inputs have instants. A tuple is two events, its start and its end,
and progressive aggregates need only the sums over the events of each group and instant. So each piece of a join's
output becomes sums, and is then dropped.

    tuples   +[1, 7) x=5     +[1, 9) x=2     +[3, 7) x=2
    events   1: 2 rows, sum 7       3: 1 row, sum 2       7: -2 rows, sum -7       9: -1 row, sum -2

Sums are kept as limbs (see sums.py), so they are exact, and a tuple that was added as it is can leave as part of a sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane, is_null
from thalweg.core.runs import Run, join_runs
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.aggregates.numbers import Numbers
from thalweg.kernel.aggregates.sums import Limbs
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.events import GroupEvents
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.sweep.segments import run_starts

ROWS = 0  # the quantity that every event has; the others belong to an argument
COUNT, SUM, SQUARES, ABOVE, BELOW = range(1, 6)
_OF_AN_ARGUMENT = 5
_MANY = 1 << 15  # tuples: to estimate how many sums they have costs little
_PAYS = 4  # tuples for each sum
_KINDS_BY_POWER = (1, 3, 6)  # of changes for each argument, as a rule
_UNSETTLED = 1 << 18  # changes that are worth adding up once more
_SLOT_BITS = 8  # a DOUBLE's square has fewer than 2^8 slots

_MULTIPLIERS = np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x9E3779B97F4A7C15)
_FOLD_SHIFT = np.uint64(29)

_Amounts = tuple[int, Ints | None, Ints | int, Ints]  # a quantity, the rows that have it (None: all), slots, amounts


class ReducedChanges(NamedTuple):
    """Changes of quantities: which group changes, when, in what quantity and slot (`kind`), and by how much."""

    time: Ints
    amount: Ints
    code: Ints
    kind: Ints

    def of(self, places: Ints, quantity: int, argument: int = 0) -> Limbs:
        """The changes of one quantity, in the places of the changes."""
        rows = np.flatnonzero(self.kind >> _SLOT_BITS == _quantity(quantity, argument))
        return Limbs(places[rows], self.kind[rows] & ((1 << _SLOT_BITS) - 1), self.amount[rows])


class ReducedEvents(Stateful, kind="reduced-events/1"):
    """Adds up the events of tuples. State: the sums of ends that are not due, by group, instant and quantity."""

    KEPT = ("_ends",)

    def __init__(self, powers: Sequence[int]) -> None:
        """`powers`: for each argument the greatest power of its values whose sum is needed."""
        self._powers = tuple(powers)
        self._ends = GroupEvents()
        self._parts: list[Run] = []  # of this batch: times, amounts, codes and kinds
        self._settled = 0  # rows of the first part, in which no two rows are of one group, instant and kind

    def __len__(self) -> int:
        return len(self._ends)

    def is_idle(self, codes: Ints) -> Flags:
        """Which groups have no pending ends."""
        return self._ends.is_idle(codes)

    def pays(self, code: Ints, end: Ints, now: Instant) -> bool:
        """Whether sums of the ends that are not due are many times fewer than the ends."""
        if len(code) < _MANY:
            return False
        later = np.flatnonzero((end > now) & (end < FOREVER))
        if len(later) < _MANY:
            return False
        kinds = 1 + sum(_KINDS_BY_POWER[power] for power in self._powers)
        return _PAYS * kinds * _distinct(code[later], end[later]) < len(later)

    def add(self, code: Ints, start: Ints, end: Ints, weight: Ints, arguments: Sequence[Lane]) -> None:
        """Take tuples of groups, with the values of their arguments."""
        amounts = list(self._amounts(weight, arguments))
        self._parts.append(_summed(code, start, amounts))
        if (end < FOREVER).any():
            part = _summed(code, end, amounts)
            ends = part[0] < FOREVER
            time, amount, codes, kind = (lane[ends] for lane in part)
            self._parts.append((time, -amount, codes, kind))
        if sum(len(part[0]) for part in self._parts) > 2 * self._settled + _UNSETTLED:
            self._settle()

    def due(self, now: Instant) -> ReducedChanges | None:
        """The changes up to `now`; None if there are none."""
        if self._parts:
            if len(self._parts) > 2:  # of several pieces
                self._settle()
            time, amount, code, kind = join_runs(self._parts)
            self._parts, self._settled = [], 0
            later = time > now
            self._ends.hold(time[later], amount[later], (code[later], kind[later]))
            new: list[Run] = [tuple(lane[~later] for lane in (time, amount, code, kind))]
        else:
            new = []
        held = self._ends.due(now)
        changes = join_runs(new if held is None else [*new, held]) if new or held is not None else None
        return None if changes is None or not len(changes[0]) else ReducedChanges(*changes)

    def _settle(self) -> None:
        """Add up the changes of equal group, instant and kind."""
        time, amount, code, kind = join_runs(self._parts)
        order = order_by(code, time, kind)
        time, amount, code, kind = time[order], amount[order], code[order], kind[order]
        first = np.flatnonzero(run_starts(code, time, kind))
        total = np.add.reduceat(amount, first) if len(first) else amount
        real = total != 0
        first = first[real]
        self._parts = [(time[first], total[real], code[first], kind[first])]
        self._settled = len(first)

    def _amounts(self, weight: Ints, arguments: Sequence[Lane]) -> Iterator[_Amounts]:
        """What each tuple adds to each quantity."""
        yield ROWS, None, 0, weight
        for place, (power, lane) in enumerate(zip(self._powers, arguments, strict=True)):
            rows = np.flatnonzero(~is_null(lane))
            known, weights = lane[rows], weight[rows]
            yield _quantity(COUNT, place), rows, 0, weights
            if not power:
                continue
            if lane.dtype == np.float64 and np.isinf(known).any():
                for quantity, infinite in ((ABOVE, known == np.inf), (BELOW, known == -np.inf)):
                    yield _quantity(quantity, place), rows[infinite], 0, weights[infinite]
                finite = np.isfinite(known)
                rows, known, weights = rows[finite], known[finite], weights[finite]
            numbers = Numbers.of(known)
            for slot, amount in numbers.limbs(weights):
                yield _quantity(SUM, place), rows, slot, amount
            if power > 1:
                for slot, amount in numbers.squared().limbs(weights):
                    yield _quantity(SQUARES, place), rows, slot, amount


def _quantity(quantity: int, argument: int) -> int:
    return quantity + _OF_AN_ARGUMENT * argument if quantity else ROWS


def _summed(code: Ints, time: Ints, amounts: Sequence[_Amounts]) -> Run:
    """The sums of amounts by group, instant and kind, as times, sums, codes and kinds; sums of zero are left out."""
    order = order_by(code, time)
    starts = run_starts(code[order], time[order])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(starts) - 1
    chosen = order[starts]  # the first row of each place
    found: list[Run] = []
    for quantity, rows, slot, amount in amounts:
        places = place if rows is None else place[rows]
        lowest, highest = (
            (slot, slot) if isinstance(slot, int) else (int(slot.min(initial=255)), int(slot.max(initial=0)))
        )
        total = np.zeros((max(0, highest + 1 - lowest), len(chosen)), dtype=np.int64)
        np.add.at(total.reshape(-1), (slot - lowest) * len(chosen) + places, amount)
        slots, at = np.nonzero(total)
        kind = (quantity << _SLOT_BITS) | (slots + lowest)
        found.append((time[chosen[at]], total[slots, at], code[chosen[at]], kind))
    return join_runs(found)


def _distinct(code: Ints, time: Ints) -> float:
    """About how many pairs of a group and an instant there are: linear counting, by how many hashes occur."""
    bits = len(code).bit_length()
    hashes = (code.view(np.uint64) * _MULTIPLIERS[0] + time.view(np.uint64)) * _MULTIPLIERS[1]
    hashes = (hashes ^ (hashes >> _FOLD_SHIFT)) * _MULTIPLIERS[0]
    seen = np.zeros(1 << bits, dtype=np.bool_)
    seen[hashes >> np.uint64(64 - bits)] = True
    empty = max(1, len(seen) - int(np.count_nonzero(seen)))
    return -len(seen) * float(np.log(empty / len(seen)))
