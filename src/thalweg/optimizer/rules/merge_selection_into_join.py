"""sigma_p(S1 |x|_J S2) = S1 |x|_{J AND p} S2."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.expressions import call
from thalweg.algebra.plan import Join, JoinKind, NrrJoin, Plan, Select


def merge_selection_into_join(plan: Plan) -> Plan | None:
    """The join's condition takes the selection in, and can use its equalities; what reads one side moves on below.

    Inner joins only, with an NRR too: an outer join would keep the rows that the selection drops, filled with NULLs.
    """
    match plan:
        case Select(Join(kind=JoinKind.INNER) | NrrJoin(kind=JoinKind.INNER) as join, predicate):
            return replace(join, condition=call("and", join.condition, predicate))
    return None
