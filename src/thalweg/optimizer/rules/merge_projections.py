"""pi_L(pi_M(S)) = pi_{L over M}(S)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from thalweg.algebra.expressions import Call, Case, Cast, Column, Expression, Literal
from thalweg.algebra.plan import Named, Plan, Project
from thalweg.optimizer.columns import through


def merge_projections(plan: Plan) -> Plan | None:
    """One projection instead of two; columns of the lower one that are not read vanish.

    Legal always; done unless something that was computed once would be computed several times.
    """
    match plan:
        case Project(Project(child, below), above):
            read = Counter(index for item in above for index in _reads(item.expression))
            if all(n == 1 or isinstance(below[i].expression, Column | Literal) for i, n in read.items()):
                return Project(child, tuple(Named(through(item.expression, below), item.name) for item in above))
    return None


def _reads(expression: Expression) -> Iterator[int]:
    """Each column as often as it is read."""
    match expression:
        case Column(index):
            yield index
        case Call(args=args):
            for arg in args:
                yield from _reads(arg)
        case Case(branches, default):
            for part in (*(part for branch in branches for part in branch), default):
                yield from _reads(part)
        case Cast(operand):
            yield from _reads(operand)
