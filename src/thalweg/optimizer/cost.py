"""Costs per unit time: tuples touched (GolabOzsu2005 §5.4.1).

With `m` tuples per unit time on an input, positive and negative, `N` of them stored and `k` partners per probe:

    selection, projection, union   sum of m; nothing for a projection that only leaves out columns
    join, intersection             m1 k2 + m2 k1 by hash; m1 N2 + m2 N1 by scanning (the paper's)
    semi-join, anti-join           m1 + m2 and the results: each looks at distinct keys
    distinct                       m by hash; m No / 2 by scanning the output in order of exp
    multi-way join                 the cheapest order's walks (GolabOzsu2003 §4; see `join_orders`)
    group-by                       2 m C, since every tuple changes its group when it comes and when it goes
    negation                       2 m1 log d1 + 2 m2 log d2, and a probe for each premature deletion
    what is stored                 is put there and taken out again: 2 m, or m if it never ends

Negative tuples double a cost because m counts them too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from math import log2, prod

from thalweg.algebra.expressions import Column, Expression, and_, conjuncts
from thalweg.algebra.plan import (
    Distinct,
    GroupBy,
    Intersect,
    Join,
    MultiJoin,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    Select,
    SemiJoin,
    StreamScan,
    TopK,
    Union,
    equalities,
    join_graph,
)
from thalweg.core.stream_statistics import StreamStatistics
from thalweg.optimizer.estimate import Ends, Estimate, estimate
from thalweg.optimizer.flow import Flow
from thalweg.optimizer.flows import met
from thalweg.optimizer.join_orders import CostModel, best_global_order
from thalweg.optimizer.selectivity import values
from thalweg.optimizer.statistics import Statistics


class Access(Enum):
    """How an operator finds what it stores."""

    HASH = "hash"
    SCAN = "scan"


@dataclass(frozen=True)
class Costed:
    """A plan with the flow out of every operator, and what each costs per tick."""

    node: Plan
    flow: Flow
    cost: float
    children: tuple[Costed, ...]

    @property
    def total(self) -> float:
        """What the operator and all below cost per tick; equal sub-plans run once."""
        return sum({each.node: each.cost for each in self.walk()}.values())

    @property
    def state(self) -> float:
        """How many tuples all operators store."""
        return sum({each.node: stored(each) for each in self.walk()}.values())

    def walk(self) -> Iterator[Costed]:
        """This operator and all below it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()


def cost(plan: Plan, statistics: Statistics, ends: Ends = Ends.DIRECT, access: Access = Access.HASH) -> Costed:
    """What a plan costs."""
    return _costed(estimate(plan, statistics, ends), access)


def _costed(estimated: Estimate, access: Access) -> Costed:
    children = tuple(_costed(child, access) for child in estimated.children)
    node, inputs = estimated.node, [child.flow for child in children]
    return Costed(node, estimated.flow, operator_cost(node, inputs, estimated.flow, access), children)


def operator_cost(node: Plan, inputs: Sequence[Flow], output: Flow, access: Access = Access.HASH) -> float:
    """What one operator costs per tick."""
    messages = sum(side.messages for side in inputs)
    match node:
        case StreamScan() | RelationScan():
            return 0.0
        case Project(items=items) if all(isinstance(item.expression, Column) for item in items):
            return 0.0  # columns are left out, not copied
        case Select() | Project() | Union():
            return messages
        case SemiJoin() if access is Access.HASH:  # one tuple stands for all partners with its key
            return 2 * messages + messages + output.messages
        case Join() | SemiJoin():
            of_left, of_right = _looked_at(node, inputs, access)
            return 2 * messages + inputs[0].messages * of_right + inputs[1].messages * of_left
        case MultiJoin():
            model = _join_model(node, inputs, access)
            return 2 * messages + model.global_order(best_global_order(model))
        case NrrJoin():
            _, of_right = _looked_at(node, inputs, access)
            return inputs[0].messages * (1 + of_right) + 2 * inputs[1].messages
        case Distinct():
            return messages * (max(1.0, output.size / 2) if access is Access.SCAN else 1.0)
        case GroupBy(aggregates=aggregates):
            return 2 * messages * max(1, len(aggregates))
        case Negation() | Intersect():
            looked_up = sum(2 * side.messages * log2(max(2.0, max(side.distinct))) for side in inputs)
            return looked_up + output.rate * output.premature
        case TopK(limit=limit):
            return 2 * messages * log2(max(2, limit))
    return messages


def expected_order(join: Costed) -> tuple[int, ...]:
    """The order in which a multi-way join is expected to walk its inputs, each source's own tuples first."""
    assert isinstance(join.node, MultiJoin)
    return best_global_order(_join_model(join.node, [child.flow for child in join.children], Access.HASH))


def _join_model(node: MultiJoin, inputs: Sequence[Flow], access: Access) -> CostModel:
    """The inputs of a multi-way join as its cost model wants them, with distinct values by attribute of the graph."""
    graph = join_graph(node.condition, node.offsets)
    streams = [
        StreamStatistics(flow.messages, flow.size, tuple(_values(a.values[i], flow) for a in graph.attributes))
        for i, flow in enumerate(inputs)
    ]
    return CostModel(streams, [None if access is Access.HASH else 1] * len(streams))


def _values(expressions: Sequence[Expression] | None, flow: Flow) -> float | None:
    if expressions is None:
        return None
    return max(1.0, min(flow.size, prod(values(e, flow.distinct) for e in expressions)))


def _looked_at(node: Join | SemiJoin | NrrJoin, inputs: Sequence[Flow], access: Access) -> tuple[float, float]:
    """How many stored tuples a probe of the left side looks at, and of the right side: those with a tuple's key."""
    left, right = inputs
    if access is Access.SCAN or not node.equalities:
        return left.size, right.size
    width = len(node.left.schema)
    by_key = and_([part for part in conjuncts(node.condition) if equalities(part, width)])
    share, _ = met(by_key, left.distinct + right.distinct)
    return left.size * share, right.size * share


def stored(operator: Costed) -> float:
    """How many tuples an operator keeps: both sides of a join, the rows of groups, the duplicates of delta*."""
    inputs = [child.flow for child in operator.children]
    match operator.node:
        case Join() | MultiJoin() | SemiJoin() | Negation() | Intersect():
            return sum(side.size for side in inputs)
        case NrrJoin():
            return inputs[1].size
        case Distinct():
            return min(2 * operator.flow.size, inputs[0].size)
        case GroupBy() | TopK():
            return operator.flow.size
    return 0.0
