"""`Plan`: the closed union of all logical operators.

A `match` over a plan that ends in `assert_never` does not pass mypy until it has a case for every operator.
"""

from __future__ import annotations

from thalweg.algebra.plan.joins import Join, NrrJoin, SemiJoin
from thalweg.algebra.plan.leaves import RelationScan, StreamScan, Windowed
from thalweg.algebra.plan.multi_join import MultiJoin
from thalweg.algebra.plan.sets import Intersect, Negation, Union
from thalweg.algebra.plan.streams import DStream, IStream, RStream
from thalweg.algebra.plan.unary import Distinct, GroupBy, Project, Select, TopK

Plan = (
    StreamScan
    | RelationScan
    | Windowed
    | Select
    | Project
    | Distinct
    | GroupBy
    | TopK
    | Union
    | Intersect
    | Negation
    | Join
    | SemiJoin
    | NrrJoin
    | MultiJoin
    | IStream
    | DStream
    | RStream
)


def keeps_arrival_order(plan: Plan) -> bool:
    """Whether a stream's tuples come in the order in which they arrived (docs/semantics.md, "Windows")."""
    while isinstance(plan, Select | Project):
        plan = plan.child
    return isinstance(plan, StreamScan)
