"""pi_L(S1 semi_J S2) = pi_L(S1) semi_J S2 if L holds the columns of S1 that J reads; the same for anti."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.expressions import columns_of
from thalweg.algebra.plan import Plan, Project, SemiJoin
from thalweg.optimizer.columns import moved, plain


def push_projection_below_semi_join(plan: Plan) -> Plan | None:
    """The left side keeps narrower rows, and no projection stands between a negation and the join it is pulled above.

    If what the condition reads of the left side is in L as it is.
    """
    match plan:
        case Project(SemiJoin(left, right, condition) as semi, items):
            width, places = len(left.schema), plain(items)
            if {i for i in columns_of(condition) if i < width} <= places.keys():
                places |= {width + j: len(items) + j for j in range(len(right.schema))}
                return replace(semi, left=Project(left, items), condition=moved(condition, places))
    return None
