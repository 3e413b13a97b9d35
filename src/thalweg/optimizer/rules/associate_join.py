"""(S1 |x| S2) |x| S3 = S1 |x| (S2 |x| S3)."""

from __future__ import annotations

from thalweg.algebra.expressions import and_, shift
from thalweg.algebra.plan import Join, JoinKind, Plan
from thalweg.optimizer.columns import split


def associate_join(plan: Plan) -> Plan | None:
    """Joins of windows are associative (PatroumpasSellis2011 §5), of any windows. Inner joins only.

    Parts of both conditions that read S2 and S3 alone go into the new join, all others into the upper one.
    """
    match plan:
        case Join(Join(one, two, below, JoinKind.INNER), three, above, JoinKind.INNER):
            width = len(one.schema)
            inner, outer = split(and_([below, above]), lambda read: min(read) >= width)
            return Join(one, Join(two, three, and_([shift(part, -width) for part in inner])), and_(outer))
    return None
