"""Add to the tuples of an input the codes of the attributes that it shares with other inputs."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.expressions import and_, shift
from thalweg.algebra.plan import JoinGraph
from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, is_null
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.state.table import KeyTable
from thalweg.kernel.sweep.evaluate import Condition, Evaluator


class InputCoding:
    """Filters an input by the conditions on it alone, and adds codes. Tuples with NULL in an attribute are dropped."""

    def __init__(self, i: int, schema: Schema, graph: JoinGraph, pool: StringPool) -> None:
        self.width = len(schema)
        self.attributes = tuple(a for a, attribute in enumerate(graph.attributes) if i in attribute.inputs)
        conditions = [part for part in graph.rest if (graph.inputs_of(part) or {0}) == {i}]
        own = and_([shift(part, -graph.offsets[i]) for part in conditions])
        self._condition = Condition(own, schema, pool) if conditions else None
        values = [graph.attributes[a].values[i] or () for a in self.attributes]
        self._evaluators = [Evaluator(value, schema, pool) for value in values]

    def code_column(self, attribute: int) -> int:
        """The column that holds the codes of an attribute."""
        return self.width + self.attributes.index(attribute)

    def coded(self, batch: Batch, coders: Sequence[KeyTable]) -> Batch:
        """The tuples that may be part of a result, with their codes as further columns."""
        if self._condition is not None and len(batch):
            batch = batch.take(self._condition.holds(batch.columns, len(batch)))
        codes = []
        missing: Flags | None = None
        for attribute, evaluate in zip(self.attributes, self._evaluators, strict=True):
            lanes = evaluate(batch.columns, len(batch))
            codes.append(coders[attribute].encode(lanes, len(batch)))
            for nulls in map(is_null, lanes):
                if nulls.any():
                    missing = nulls if missing is None else missing | nulls
        coded = batch.with_columns((*batch.columns, *codes))
        return coded if missing is None else coded.take(~missing)
