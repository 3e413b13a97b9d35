"""Grouped filters: all queries' predicates over one attribute of a stream, as one operator (MaddenEtAl2002 §3.2.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from thalweg.algebra.expressions import Expression, columns_of
from thalweg.core.lanes import Ints, Lane, lane_dtype
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.flows.eddy.bits import Words
from thalweg.flows.eddy.members import Member, MemberSet, Space, numbers
from thalweg.flows.eddy.steps import Steps
from thalweg.flows.eddy.values import ValueSet
from thalweg.kernel.sweep.evaluate import Evaluator

ALL = 0  # the layer of predicates that must all hold; layer n is the n-th clause of a query over several attributes

_FEW = 64

Sight = list[tuple[int, Steps, Ints]]  # by layer an index, and the pieces of it that values lie in
_Conditions = dict[Member, dict[int, ValueSet]]


class GroupedFilter:
    """The attribute is evaluated once for all queries; its value finds the bitmap of those whose predicates it fulfils.

    New predicates lie in a small index of their own until there are enough of them to build the large one anew.
    """

    def __init__(self, name: str, attribute: Expression, schema: Schema, pool: StringPool, space: Space) -> None:
        self.name = name
        self.attribute = attribute
        self.needs = MemberSet(space)  # those that have a predicate here
        self._space = space
        self._evaluate = Evaluator([attribute], schema, pool)
        self._reads = columns_of(attribute)
        self._dtype = lane_dtype(attribute.type)
        self._old: _Conditions = {}
        self._new: _Conditions = {}
        self._large: dict[int, Steps] = {}
        self._small: dict[int, Steps] | None = {}  # None if it is to be built
        self._version = -1

    def add(self, member: Member, layer: int, values: ValueSet) -> None:
        """A predicate of a member: in the first layer another one that must hold, else a part of a clause."""
        layers = self._new.setdefault(member, {})
        layers[layer] = layers[layer].meet(values) if layer in layers else values
        self.needs.add(member)
        self._small = None

    def drop(self, member: Member) -> None:
        """All predicates of a member. Its bit no longer comes; the index may know of it until it is built anew."""
        self._new.pop(member, None)
        self._old.pop(member, None)
        self.needs.discard(member)

    @property
    def layers(self) -> frozenset[int]:
        """The layers of which it decides a part."""
        self._build()
        return frozenset((*self._large, *(self._small or ()))) - {ALL}

    @property
    def nbytes(self) -> int:
        """The memory of the index."""
        return sum(s.nbytes for steps in (self._large, self._small or {}) for s in steps.values())

    def whole(self) -> Steps | None:
        """All its predicates as one index; None if some are parts of clauses."""
        self._build(bool(self._new))
        return self._large[ALL] if self._large.keys() == {ALL} else None

    def look_at(self, columns: Sequence[Lane], rows: Ints | slice, count: int) -> Sight:
        """Evaluate the attribute in some rows, and find where the values lie in the index."""
        self._build()
        taken = [lane[rows] if i in self._reads else lane for i, lane in enumerate(columns)]
        lane = self._evaluate(taken, count)[0]
        indexes = (self._large, self._small or {})
        return [(layer, step, step.pieces(lane)) for steps in indexes for layer, step in steps.items()]

    @staticmethod
    def apply(sight: Sight, rows: slice, lineage: Words, clauses: Mapping[int, Words]) -> Words:
        """Lineage without the members whose predicates values do not fulfil; sets the bits of clauses that they do."""
        for layer, step, pieces in sight:
            if layer == ALL:
                found = step.at(pieces[rows])
                lineage = np.bitwise_and(found, lineage, out=found)
            elif layer in clauses:  # else those that had such a clause have gone
                np.bitwise_or(clauses[layer], step.at(pieces[rows]), out=clauses[layer])
        return lineage

    def _build(self, anew: bool = False) -> None:
        if anew or self._version != self._space.version or len(self._new) > max(_FEW, len(self._old) // 8):
            self._old |= self._new
            self._new = {}
            self._large, self._small = self._steps(self._old), {}
            self._version = self._space.version
        elif self._small is None:
            self._small = self._steps(self._new)

    def _steps(self, conditions: _Conditions) -> dict[int, Steps]:
        by_layer: dict[int, tuple[list[Member], list[ValueSet]]] = {}
        for member, layers in conditions.items():
            for layer, values in layers.items():
                members, sets = by_layer.setdefault(layer, ([], []))
                members.append(member)
                sets.append(values)
        width, dtype = self._space.width, np.dtype(self._dtype).type
        return {
            layer: Steps(numbers(members), sets, width, dtype, layer == ALL)
            for layer, (members, sets) in by_layer.items()
        }
