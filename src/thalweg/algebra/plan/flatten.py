"""Trees of inner joins as one multi-way join, and a multi-way join as a tree in any order."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.expressions import (
    Column,
    Expression,
    and_,
    call,
    column,
    columns_of,
    conjuncts,
    map_columns,
    shift,
)
from thalweg.algebra.plan.join_graph import Attribute, JoinGraph, join_graph
from thalweg.algebra.plan.joins import Join, JoinKind
from thalweg.algebra.plan.multi_join import FEWEST_INPUTS, MultiJoin
from thalweg.algebra.plan.nodes import Plan
from thalweg.algebra.plan.unary import Named, Project, Select
from thalweg.core.errors import PlanError


def flatten(plan: Plan) -> Plan:
    """The same query with every largest tree of inner joins of three inputs or more as a MultiJoin.

    Selections inside and on top of such a tree become part of its condition.
    """
    inputs, parts = _collect(plan)
    if len(inputs) >= FEWEST_INPUTS:
        return MultiJoin(tuple(map(flatten, inputs)), and_(parts))
    return plan.with_children(*map(flatten, plan.children)) if plan.children else plan


def _collect(plan: Plan) -> tuple[list[Plan], list[Expression]]:
    """The inputs of the tree of joins that the plan is, and its conjuncts over their columns; else the plan itself."""
    match plan:
        case Join(left, right, condition, JoinKind.INNER):
            mine, my_parts = _collect(left)
            theirs, their_parts = _collect(right)
            moved = [shift(part, len(left.schema)) for part in their_parts]
            return mine + theirs, [*my_parts, *moved, *conjuncts(condition)]
        case Select(child, predicate):
            inputs, parts = _collect(child)
            if len(inputs) > 1:
                return inputs, [*parts, *conjuncts(predicate)]
        case MultiJoin(inputs=inputs_, condition=condition):
            return list(inputs_), conjuncts(condition)
    return [plan], []


def unflatten(multi: MultiJoin, order: Sequence[int]) -> Plan:
    """The left-deep tree of binary joins that takes the inputs in an order; a projection restores the columns' order.

    Every conjunct goes to the lowest join that has its columns; inputs that share an attribute are joined on it.
    """
    if sorted(order) != list(range(len(multi.inputs))):
        raise PlanError(
            f"an order of {len(multi.inputs)} inputs names each of 0 to {len(multi.inputs) - 1} once, "
            f"not {', '.join(map(str, order))}"
        )
    graph = join_graph(multi.condition, multi.offsets)
    placed = _Placed(multi, order)
    tree, waiting = multi.inputs[order[0]], list(graph.rest)
    for place in range(1, len(order)):
        known = frozenset(order[: place + 1])
        ready = [part for part in waiting if graph.inputs_of(part) <= known]
        waiting = [part for part in waiting if graph.inputs_of(part) - known]
        equal = [e for a in graph.attributes for e in _equalities(a, graph, order[:place], order[place])]
        condition = and_([placed.moved(part) for part in [*equal, *ready]])
        tree = Join(tree, multi.inputs[order[place]], condition)
    if list(order) == sorted(order):
        return tree
    return Project(tree, tuple(Named(placed.of(i), field.name) for i, field in enumerate(multi.schema)))


def _equalities(attribute: Attribute, graph: JoinGraph, known: Sequence[int], new: int) -> list[Expression]:
    """The conditions that the values of an attribute in a new input equal those in the inputs before it."""
    met = next((i for i in known if attribute.values[i] is not None), None)
    theirs = attribute.values[new]
    if met is None or theirs is None:
        return []
    mine = attribute.values[met] or ()
    return [
        call("=", shift(a, graph.offsets[met]), shift(b, graph.offsets[new])) for a, b in zip(mine, theirs, strict=True)
    ]


class _Placed:
    """Where the columns of a multi-way join stand in a tree that takes its inputs in another order."""

    def __init__(self, multi: MultiJoin, order: Sequence[int]) -> None:
        self._schema = multi.schema
        self._places: dict[int, int] = {}
        for i in order:
            for c in range(multi.offsets[i], multi.offsets[i + 1]):
                self._places[c] = len(self._places)

    def of(self, index: int) -> Column:
        """A column of the multi-way join in the tree."""
        found = column(self._schema, index)
        return Column(self._places[index], found.type, found.name)

    def moved(self, expression: Expression) -> Expression:
        """An expression over the multi-way join's columns in the tree."""
        assert columns_of(expression) <= self._places.keys()
        return map_columns(expression, lambda c: Column(self._places[c.index], c.type, c.name))
