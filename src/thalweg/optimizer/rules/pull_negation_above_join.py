"""(S1 -_A S2) |x| S3 = (S1 |x| S3) -_A S2 if A tells the rows of S1 apart and each has one partner at most."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.plan import Join, JoinKind, Negation, Plan
from thalweg.optimizer.keys import is_unique, partner_columns


def pull_negation_above_join(plan: Plan) -> Plan | None:
    """Joins below a negation see no negative tuples (GolabOzsu2005 §5.4.2, figure 6).

    The paper draws it for any negation, but equation 1 counts: with two left rows, one right row and two partners it
    gives 2 results pushed down, and 3 pulled up. Where a value of A has one left row at most, before and after the
    join, the count is whether there is a right row, on both sides. Not EXCEPT ALL on whole rows: pulled up it would
    compare some attributes, and all operators would have to keep dates for it.
    """
    match plan:
        case Join(Negation(left, right, on) as negation, other, kind=JoinKind.INNER):
            _, theirs = partner_columns(plan)
            if _is_set(negation) and is_unique(other, theirs):
                return Negation(replace(plan, left=left), right, on)
        case Join(other, Negation(left, right, on) as negation, kind=JoinKind.INNER):
            theirs, _ = partner_columns(plan)
            if _is_set(negation) and is_unique(other, theirs):
                moved = tuple((i + len(other.schema), j) for i, j in on)
                return Negation(replace(plan, right=left), right, moved)
    return None


def _is_set(negation: Negation) -> bool:
    """Whether each value that is compared has one left row at most."""
    return not negation.compares_rows and is_unique(negation.left, (i for i, _ in negation.on))
