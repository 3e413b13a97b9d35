"""sigma_F(S1 =|x|_J S2) = sigma_F(S1 |x|_J S2) if F is not true for rows that are filled with NULLs."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.expressions import TRUE, Expression, Literal, conjuncts, map_columns
from thalweg.algebra.plan import Join, JoinKind, NrrJoin, Plan, Select
from thalweg.optimizer.conditions import fold

_KINDS = {
    (True, True): JoinKind.FULL,
    (True, False): JoinKind.LEFT,
    (False, True): JoinKind.RIGHT,
    (False, False): JoinKind.INNER,
}


def narrow_outer_join(plan: Plan) -> Plan | None:
    """An inner join is weak where an outer one is strict: a late partner takes nothing back.

    A side's unmatched rows may go if some part of F, with NULL for every column of the other side, is FALSE or NULL
    whatever the row.
    """
    match plan:
        case Select(Join() | NrrJoin() as join, predicate) if join.kind is not JoinKind.INNER:
            width = len(join.left.schema)
            lefts = join.kind in (JoinKind.LEFT, JoinKind.FULL) and not _rejects(predicate, range(width, 1 << 30))
            rights = join.kind in (JoinKind.RIGHT, JoinKind.FULL) and not _rejects(predicate, range(width))
            return Select(replace(join, kind=_KINDS[lefts, rights]), predicate)
    return None


def _rejects(predicate: Expression, missing: range) -> bool:
    """Whether the predicate cannot be true where the columns `missing` are NULL."""
    folded = (
        fold(map_columns(part, lambda c: Literal(None, c.type) if c.index in missing else c))
        for part in conjuncts(predicate)
    )
    return any(isinstance(part, Literal) and part != TRUE for part in folded)
