"""S1 semi_J S2 = S1 semi_J pi_L2(S2); S1 -_A S2 = S1 -_A pi_A(S2)."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.expressions import columns_of
from thalweg.algebra.plan import Negation, Plan, SemiJoin
from thalweg.optimizer.columns import kept, moved


def prune_partner_columns(plan: Plan) -> Plan | None:
    """The right side of a semi-join, an anti-join or a negation brings only what is compared.

    Always: its rows are looked for, or counted, and never shown. The left side of a negation keeps all columns, by
    which ties are broken.
    """
    match plan:
        case SemiJoin(left, right, condition):
            width = len(left.schema)
            read = sorted(i - width for i in columns_of(condition) if i >= width) or [0]
            if len(read) == len(right.schema):
                return None
            places = {i: i for i in range(width)} | {width + old: width + new for new, old in enumerate(read)}
            return replace(plan, right=kept(right, read), condition=moved(condition, places))
        case Negation(_, right, on):
            read = sorted({j for _, j in on})
            if len(read) == len(right.schema):
                return None
            return replace(plan, right=kept(right, read), on=tuple((i, read.index(j)) for i, j in on))
    return None
