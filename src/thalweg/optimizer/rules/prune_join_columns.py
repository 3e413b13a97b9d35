"""pi_L(S1 |x|_J S2) = pi_L(pi_L1(S1) |x|_J pi_L2(S2)), L1 and L2 holding what L and J read."""

from __future__ import annotations

from thalweg.algebra.plan import GroupBy, Plan, Project
from thalweg.optimizer.columns import columns_read, moved
from thalweg.optimizer.expressions import expressions_of, with_expressions
from thalweg.optimizer.narrow import narrow


def prune_join_columns(plan: Plan) -> Plan | None:
    """Joins keep only the columns that are read above them or by their condition (PatroumpasSellis2011 §5).

    Below a projection or a group-by, also through a selection. Not below DISTINCT, a negation or a top-k: they compare
    whole rows.
    """
    if not isinstance(plan, Project | GroupBy):
        return None
    below = narrow(plan.child, columns_read(expressions_of(plan)))
    if below is None:
        return None
    narrower, places = below
    return with_expressions(plan, lambda e: moved(e, places), narrower)
