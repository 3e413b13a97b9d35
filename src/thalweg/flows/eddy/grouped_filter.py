"""Grouped filters: all queries' predicates over one attribute of a stream, as one operator (MaddenEtAl2002 §3.2.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from thalweg.algebra.expressions import Expression, columns_of
from thalweg.core.lanes import Ints, Lane, lane_dtype
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.flows.eddy.bits import Words
from thalweg.flows.eddy.members import Member, MemberSet, Space, numbers
from thalweg.flows.eddy.steps import BitmapSteps
from thalweg.flows.eddy.tuning import DEFAULT, EddyTuning
from thalweg.flows.eddy.values import ValueSet
from thalweg.kernel.sweep.evaluate import Evaluator

ALL = 0  # the layer of predicates that must all hold; layer n is the n-th clause of a query over several attributes

Sight = list[tuple[int, BitmapSteps, Ints]]  # by layer, an index and the pieces that values fall into
_Conditions = dict[Member, dict[int, ValueSet]]


class GroupedFilter:
    """The attribute is evaluated once for all queries; its value leads to the bitmap of the queries that it satisfies.

    New predicates go into a second, recent index; once there are many, the main index is rebuilt with them.
    """

    def __init__(
        self,
        name: str,
        attribute: Expression,
        schema: Schema,
        pool: StringPool,
        space: Space,
        tuning: EddyTuning = DEFAULT,
    ) -> None:
        self.name = name
        self.attribute = attribute
        self.needs = MemberSet(space)  # members with a predicate here
        self._space = space
        self._tuning = tuning
        self._evaluate = Evaluator([attribute], schema, pool)
        self._reads = columns_of(attribute)
        self._dtype = lane_dtype(attribute.type)
        self._old: _Conditions = {}
        self._new: _Conditions = {}
        self._main_index: dict[int, BitmapSteps] = {}
        self._recent_index: dict[int, BitmapSteps] | None = {}  # None if it must be rebuilt
        self._version = -1

    def parts_with_codes(self) -> list[object]:
        """The constants of all predicates, if they are codes (see `kernel/state/marking.py`)."""
        if self.attribute.type is not DataType.STRING:
            return []
        self._build()
        return [steps.constants for index in (self._main_index, self._recent_index or {}) for steps in index.values()]

    def add(self, member: Member, layer: int, values: ValueSet) -> None:
        """Add a predicate of a member: in the first layer a conjunct, else a part of a clause."""
        layers = self._new.setdefault(member, {})
        layers[layer] = layers[layer].meet(values) if layer in layers else values
        self.needs.add(member)
        self._recent_index = None

    def drop(self, member: Member) -> None:
        """Remove all predicates of a member. The index may keep its bit until it is rebuilt; tuples lack it."""
        self._new.pop(member, None)
        self._old.pop(member, None)
        self.needs.discard(member)

    @property
    def layers(self) -> frozenset[int]:
        """The layers of clauses that this filter is part of."""
        self._build()
        return frozenset((*self._main_index, *(self._recent_index or ()))) - {ALL}

    @property
    def nbytes(self) -> int:
        """The memory of the index."""
        return sum(s.nbytes for steps in (self._main_index, self._recent_index or {}) for s in steps.values())

    def whole(self) -> BitmapSteps | None:
        """All predicates as one index; None if some belong to clauses."""
        self._build(bool(self._new))
        return self._main_index[ALL] if self._main_index.keys() == {ALL} else None

    def look_at(self, columns: Sequence[Lane], rows: Ints | slice, count: int) -> Sight:
        """Evaluate the attribute in some rows, and look the values up in the index."""
        self._build()
        taken = [lane[rows] if i in self._reads else lane for i, lane in enumerate(columns)]
        lane = self._evaluate(taken, count)[0]
        indexes = (self._main_index, self._recent_index or {})
        return [(layer, step, step.pieces(lane)) for steps in indexes for layer, step in steps.items()]

    @staticmethod
    def apply(sight: Sight, rows: slice, lineage: Words, clauses: Mapping[int, Words]) -> Words:
        """Clear the bits of members whose predicates fail; set the bits of clauses that become true."""
        for layer, step, pieces in sight:
            if layer == ALL:
                found = step.at(pieces[rows])
                lineage = np.bitwise_and(found, lineage, out=found)
            elif layer in clauses:  # else all members with such a clause were dropped
                np.bitwise_or(clauses[layer], step.at(pieces[rows]), out=clauses[layer])
        return lineage

    def _build(self, anew: bool = False) -> None:
        if (
            anew
            or self._version != self._space.version
            or len(self._new) > max(self._tuning.rebuild_index_after, len(self._old) // 8)
        ):
            self._old |= self._new
            self._new = {}
            self._main_index, self._recent_index = self._steps(self._old), {}
            self._version = self._space.version
        elif self._recent_index is None:
            self._recent_index = self._steps(self._new)

    def _steps(self, conditions: _Conditions) -> dict[int, BitmapSteps]:
        by_layer: dict[int, tuple[list[Member], list[ValueSet]]] = {}
        for member, layers in conditions.items():
            for layer, values in layers.items():
                members, sets = by_layer.setdefault(layer, ([], []))
                members.append(member)
                sets.append(values)
        width, dtype = self._space.width, np.dtype(self._dtype).type
        return {
            layer: BitmapSteps(numbers(members), sets, width, dtype, layer == ALL, self._tuning)
            for layer, (members, sets) in by_layer.items()
        }
