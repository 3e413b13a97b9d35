"""Logical operators."""

from thalweg.algebra.plan.base import PlanNode, drawn
from thalweg.algebra.plan.flatten import flatten, unflatten
from thalweg.algebra.plan.join_graph import Attribute, JoinGraph, join_graph
from thalweg.algebra.plan.joins import Join, JoinKind, NrrJoin, SemiJoin, equalities, is_nrr, is_table
from thalweg.algebra.plan.leaves import RelationScan, StreamScan, Windowed
from thalweg.algebra.plan.multi_join import MultiJoin
from thalweg.algebra.plan.nodes import Plan, keeps_arrival_order
from thalweg.algebra.plan.sets import Intersect, Negation, Union
from thalweg.algebra.plan.streams import DStream, IStream, RStream
from thalweg.algebra.plan.unary import (
    Distinct,
    GroupBy,
    Named,
    NamedAggregate,
    Project,
    Select,
    SortKey,
    TopK,
)

__all__ = [
    "Attribute", "DStream", "Distinct", "GroupBy", "IStream", "Intersect", "Join", "JoinGraph", "JoinKind", "MultiJoin",
    "Named", "NamedAggregate", "Negation", "NrrJoin", "Plan", "PlanNode", "Project", "RStream", "RelationScan",
    "Select", "SemiJoin", "SortKey", "StreamScan", "TopK", "Union", "Windowed", "drawn", "equalities",
    "flatten", "is_nrr", "is_table", "join_graph", "keeps_arrival_order", "unflatten",
]  # fmt: skip
