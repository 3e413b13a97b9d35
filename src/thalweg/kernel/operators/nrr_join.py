"""Join with a non-retroactive relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.algebra.expressions import Expression
from thalweg.algebra.plan import JoinKind
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane, null_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.kernel.operator import Key, Operator
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.snapshot import immutable
from thalweg.kernel.state.versions import Versions, VersionStore
from thalweg.kernel.sweep.join_keys import NO_PARTNER, JoinKeys, rest_of
from thalweg.kernel.sweep.matches import Matches, assemble, signed
from thalweg.kernel.sweep.pairs import pairs
from thalweg.kernel.tuning import DEFAULT


@immutable("nrr-lookup/1")
@dataclass(frozen=True)
class _Lookups:
    """Left tuples, the codes of their keys, and the number of table rows that each has matched so far."""

    codes: Ints
    tuples: Batch
    match_counts: Ints

    @property
    def ts(self) -> Ints:
        assert self.tuples.dates is not None, "an NRR join needs the dates of its left input"
        return self.tuples.dates.ts

    def take(self, rows: Lane) -> _Lookups:
        return _Lookups(self.codes[rows], self.tuples.take(rows), self.match_counts[rows])


class NrrJoin(Operator, kind="nrr-join/1"):
    """{ lr : l in L, r in NRR(l.ts), condition(lr) }, with l's interval, sign and dates (Definition 2).

    A LEFT join pads a tuple without a match with NULLs. An update of the table at the current instant may arrive after
    stream tuples of that instant were joined; these are kept until time moves on, and their results are corrected.

    Update pattern: the left input's, which must not be STR. State: all versions of the NRR (see state/versions.py);
    the left tuples with ts = now. Paper: GolabOzsu2005 §4.1.
    """

    KEPT = ("_keys", "_versions", "_open_lookups")

    def __init__(self, left: Schema, right: Schema, condition: Expression, kind: JoinKind, pool: StringPool) -> None:
        self._rest = rest_of(condition, left, right, pool)
        self._keys = JoinKeys(left, right, condition, pool)
        self._pads = kind is JoinKind.LEFT
        self._right = right
        self._nothing = Batch.empty(left + right, dated=True)
        self._versions = VersionStore()
        none = np.empty(0, dtype=np.int64)
        self._open_lookups = _Lookups(none, Batch.empty(left, dated=True), none)

    @property
    def keys(self) -> tuple[Key, ...]:
        """Partners have equal join keys."""
        return self._keys.sides

    @property
    def allows_broadcast(self) -> bool:
        """The table can be broadcast: the results of a left tuple do not depend on other left tuples."""
        return True

    @property
    def pads_with_nulls(self) -> bool:
        """A LEFT join pads left tuples without a match."""
        return self._pads

    @property
    def stored(self) -> int:
        """The versions of the NRR, and the left tuples of the current instant."""
        return len(self._versions) + len(self._open_lookups.tuples)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """New left tuples with their matches, and corrections for earlier left tuples of the current instant."""
        left, right = inputs
        codes = self._keys.of_right(right)
        known = codes != NO_PARTNER
        update = Versions.of(codes[known], right.take(known))
        self._versions.add(update)

        earlier = self._open_lookups
        corrections, updated = self._look_up(earlier, update)
        no_match = np.zeros(len(left), dtype=np.int64)
        results, arrived = self._look_up(_Lookups(self._keys.of_left(left), left, no_match), self._versions)
        self._open_lookups = _joined(updated.take(updated.ts == now), arrived.take(arrived.ts == now))
        self._keys.forget(lambda: [*self._versions.codes(), self._open_lookups.codes])
        found = [corrections, results]
        if self._pads:
            had, has = earlier.match_counts > 0, updated.match_counts > 0
            found.append(self._padded(earlier.tuples.take(~had & has)).negated())
            found.append(self._padded(earlier.tuples.take(had & ~has)))
            found.append(self._padded(left.take(arrived.match_counts == 0)))
        return Batch.concat([self._nothing, *found])

    def _look_up(self, lookups: _Lookups, nrr: Versions | VersionStore) -> tuple[Batch, _Lookups]:
        """Each tuple with the rows that were in the table at its ts, and the look-ups with new match counts."""
        match_counts = lookups.match_counts.copy()
        found: list[Matches] = []
        deleted: list[Ints] = []
        for versions, first, count in nrr.find(lookups.codes, lookups.ts):
            for i, j in pairs(first, count):
                matches = self._alive(lookups, i, versions, j)
                signs = versions.sign[matches.j]
                np.add.at(match_counts, matches.i, signs)
                found.append(matches)
                deleted.append(matches.i[signs < 0])
        result = assemble(list(signed(found, DEFAULT.results_at_once)), self._nothing, dates_from_left=True)
        if any(map(len, deleted)):  # insertion and deletion of a row in different runs: their results cancel
            rows = np.concatenate([m.i for m in found])
            both = np.isin(rows, np.concatenate(deleted))
            net = Keyed.of(rows[both], result.take(both)).closed().tuples
            result = Batch.concat([result.take(~both), net])
        return result, _Lookups(lookups.codes, lookups.tuples, match_counts)

    def _alive(self, lookups: _Lookups, i: Ints, versions: Batch, j: Ints) -> Matches:
        ts = lookups.ts[i]
        alive = (versions.start[j] <= ts) & (ts < versions.end[j])
        i, j = i[alive], j[alive]
        return Matches(lookups.tuples, i, versions, j, lookups.tuples.start[i], lookups.tuples.end[i]).where(self._rest)

    def _padded(self, tuples: Batch) -> Batch:
        nulls = (null_lane(f.type, len(tuples)) for f in self._right)
        return tuples.with_columns((*tuples.columns, *nulls))


def _joined(some: _Lookups, more: _Lookups) -> _Lookups:
    tuples = Batch.concat([some.tuples, more.tuples])
    return _Lookups(np.append(some.codes, more.codes), tuples, np.append(some.match_counts, more.match_counts))
