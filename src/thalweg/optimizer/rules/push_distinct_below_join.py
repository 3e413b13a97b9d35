"""delta(S1 |x| S2) = delta(S1) |x| delta(S2); delta(S1 semi S2) = delta(S1) semi S2, and the same for anti."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.plan import Distinct, Join, JoinKind, Plan, SemiJoin


def push_distinct_below_join(plan: Plan) -> Plan | None:
    """The output of delta* serves as the join's input state (GolabOzsu2005 §5.4.2).

    Dates agree: the latest of the pairs is the pair of the latest, and of the earlier of two expiries the last is the
    earlier of the last two. Inner, LEFT and RIGHT joins; in a FULL join a row of NULLs may come from either side. Not
    with an NRR: copies of a tuple meet it at different times, and each keeps what it met.
    """
    match plan:
        case Distinct(Join(left, right, _, kind) as join) if kind is not JoinKind.FULL:
            return replace(join, left=Distinct(left), right=Distinct(right))
        case Distinct(SemiJoin(left) as semi):
            return replace(semi, left=Distinct(left))
    return None
