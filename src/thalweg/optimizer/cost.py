"""Costs per unit time: tuples touched (GolabOzsu2005 §5.4.1).

With `m` tuples per unit time on an input, positive and negative, of which `N` are stored, and `k` partners per probe:

    selection, projection, union   sum of m; 0 for a projection that only leaves out columns
    join, intersection             m1 k2 + m2 k1 by hash; m1 N2 + m2 N1 by scanning (the paper's)
    semi-join, anti-join           m1 + m2 and the results: each probe finds a distinct key
    distinct                       m by hash; m No / 2 by scanning the No results in order of exp
    multi-way join                 the walks of the cheapest order (GolabOzsu2003 §4; see `join_orders`)
    group-by                       2 m C for C aggregates: a tuple updates its group on arrival and on expiry
    negation                       2 m1 log d1 + 2 m2 log d2 for d distinct values, and a probe per early deletion
    storage                        2 m: a tuple is inserted and later removed

Negative tuples double a cost because m counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from math import log2, prod
from typing import assert_never

from thalweg.algebra.expressions import Column, Expression, and_, conjuncts
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    MultiJoin,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    RStream,
    Select,
    SemiJoin,
    StreamScan,
    TopK,
    Union,
    Windowed,
    equalities,
    join_graph,
)
from thalweg.core.stream_statistics import StreamStatistics
from thalweg.optimizer.estimates import (
    Estimate,
    ExpiryApproach,
    Traffic,
    distinct_values,
    estimate,
    join_selectivity,
)
from thalweg.optimizer.join_orders import CostModel, best_global_order
from thalweg.optimizer.statistics import Statistics


class Access(Enum):
    """How an operator finds stored tuples."""

    HASH = "hash"
    SCAN = "scan"


@dataclass(frozen=True)
class Costed:
    """A plan with the traffic out of every operator, and each operator's cost per tick."""

    node: Plan
    traffic: Traffic
    cost: float
    children: tuple[Costed, ...]

    @property
    def total(self) -> float:
        """The cost per tick of the operator and all below it; equal sub-plans run once."""
        return sum({each.node: each.cost for each in self.walk()}.values())

    @property
    def state(self) -> float:
        """How many tuples the operator and all below it store."""
        return sum({each.node: stored_tuples(each) for each in self.walk()}.values())

    def walk(self) -> Iterator[Costed]:
        """This operator and all below it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()


def cost(
    plan: Plan,
    statistics: Statistics,
    approach: ExpiryApproach = ExpiryApproach.DIRECT,
    access: Access = Access.HASH,
) -> Costed:
    """The plan with its costs."""
    return _costed(estimate(plan, statistics, approach), access)


def _costed(estimated: Estimate, access: Access) -> Costed:
    children = tuple(_costed(child, access) for child in estimated.children)
    node, inputs = estimated.node, [child.traffic for child in children]
    return Costed(node, estimated.traffic, operator_cost(node, inputs, estimated.traffic, access), children)


def operator_cost(node: Plan, inputs: Sequence[Traffic], output: Traffic, access: Access = Access.HASH) -> float:
    """The cost of one operator per tick."""
    messages = sum(side.messages for side in inputs)
    match node:
        case StreamScan() | RelationScan():
            return 0.0
        case Project(items=items) if all(isinstance(item.expression, Column) for item in items):
            return 0.0  # columns are left out, not copied
        case Select() | Project() | Union():
            return messages
        case SemiJoin() if access is Access.HASH:  # a probe finds one tuple for all partners with its key
            return 2 * messages + messages + output.messages
        case Join() | SemiJoin():
            per_left_probe, per_right_probe = _probed(node, inputs, access)
            return 2 * messages + inputs[0].messages * per_right_probe + inputs[1].messages * per_left_probe
        case MultiJoin():
            model = _join_model(node, inputs, access)
            return 2 * messages + model.global_order(best_global_order(model))
        case NrrJoin():
            _, per_right_probe = _probed(node, inputs, access)
            return inputs[0].messages * (1 + per_right_probe) + 2 * inputs[1].messages
        case Distinct():
            return messages * (max(1.0, output.size / 2) if access is Access.SCAN else 1.0)
        case GroupBy(aggregates=aggregates):
            return 2 * messages * max(1, len(aggregates))
        case Negation() | Intersect():
            looked_up = sum(2 * side.messages * log2(max(2.0, max(side.distinct))) for side in inputs)
            return looked_up + output.rate * output.premature
        case TopK(limit=limit):
            return 2 * messages * log2(max(2, limit))
        case Windowed() | IStream() | DStream() | RStream():
            return messages
        case _:
            assert_never(node)


def expected_order(join: Costed) -> tuple[int, ...]:
    """The cheapest order in which a multi-way join joins its inputs; each input with new tuples comes first itself."""
    assert isinstance(join.node, MultiJoin)
    return best_global_order(_join_model(join.node, [child.traffic for child in join.children], Access.HASH))


def _join_model(node: MultiJoin, inputs: Sequence[Traffic], access: Access) -> CostModel:
    """The cost model of a multi-way join, with the distinct values of each attribute of its join graph."""
    graph = join_graph(node.condition, node.offsets)
    streams = [
        StreamStatistics(side.messages, side.size, tuple(_key_values(a.values[i], side) for a in graph.attributes))
        for i, side in enumerate(inputs)
    ]
    return CostModel(streams, [None if access is Access.HASH else 1] * len(streams))


def _key_values(expressions: Sequence[Expression] | None, side: Traffic) -> float | None:
    if expressions is None:
        return None
    return max(1.0, min(side.size, prod(distinct_values(e, side.distinct) for e in expressions)))


def _probed(node: Join | SemiJoin | NrrJoin, inputs: Sequence[Traffic], access: Access) -> tuple[float, float]:
    """How many stored tuples a probe of the left side reads, and a probe of the right side.

    With a hash table these are the tuples with the probe's key.
    """
    left, right = inputs
    if access is Access.SCAN or not node.equalities:
        return left.size, right.size
    width = len(node.left.schema)
    by_key = and_([part for part in conjuncts(node.condition) if equalities(part, width)])
    share, _ = join_selectivity(by_key, left.distinct + right.distinct)
    return left.size * share, right.size * share


def stored_tuples(operator: Costed) -> float:
    """How many tuples an operator stores: both sides of a join, one row per group, results and duplicates of delta*."""
    inputs = [child.traffic for child in operator.children]
    match operator.node:
        case Join() | MultiJoin() | SemiJoin() | Negation() | Intersect():
            return sum(side.size for side in inputs)
        case NrrJoin():
            return inputs[1].size
        case Distinct():
            return min(2 * operator.traffic.size, inputs[0].size)
        case GroupBy() | TopK():
            return operator.traffic.size
        case StreamScan() | RelationScan() | Windowed() | Select() | Project() | Union():
            return 0.0
        case IStream() | DStream() | RStream():
            return 0.0
        case _:
            assert_never(operator.node)
