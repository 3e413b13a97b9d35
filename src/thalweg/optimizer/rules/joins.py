"""Rules about joins: their kind, their condition, what one side implies for the other, and their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from thalweg.algebra.expressions import (
    TRUE,
    Call,
    Column,
    Expression,
    Literal,
    and_,
    call,
    column,
    conjuncts,
    map_columns,
    shift,
)
from thalweg.algebra.plan import Join, JoinKind, Named, NrrJoin, Plan, Project, Select, SemiJoin
from thalweg.optimizer.conditions import fold, implies, subject_of
from thalweg.optimizer.expressions import selected, split
from thalweg.optimizer.facts import facts, is_plain

_KEEPS_UNMATCHED = {  # whether left and right rows without a partner stay
    (True, True): JoinKind.FULL,
    (True, False): JoinKind.LEFT,
    (False, True): JoinKind.RIGHT,
    (False, False): JoinKind.INNER,
}
_MIRRORED = {JoinKind.LEFT: JoinKind.RIGHT, JoinKind.RIGHT: JoinKind.LEFT}


def narrow_outer_join(plan: Plan) -> Plan | None:
    """sigma_F(S1 =|x|_J S2) = sigma_F(S1 |x|_J S2) if F is never true for rows that are filled with NULLs.

    An inner join is weak where an outer one is strict: a late partner deletes no result. Unmatched rows of a side are
    left out if some part of F, with NULL for every column of the other side, is FALSE or NULL for all rows.
    """
    match plan:
        case Select(Join() | NrrJoin() as join, predicate) if join.kind is not JoinKind.INNER:
            width, all_width = len(join.left.schema), len(join.schema)
            left = join.kind in (JoinKind.LEFT, JoinKind.FULL) and not _rejects(predicate, range(width, all_width))
            right = join.kind in (JoinKind.RIGHT, JoinKind.FULL) and not _rejects(predicate, range(width))
            return Select(replace(join, kind=_KEEPS_UNMATCHED[left, right]), predicate)
    return None


def _rejects(predicate: Expression, missing: range) -> bool:
    """Whether the predicate cannot be true where the columns `missing` are NULL."""
    folded = (
        fold(map_columns(part, lambda c: Literal(None, c.type) if c.index in missing else c))
        for part in conjuncts(predicate)
    )
    return any(isinstance(part, Literal) and part != TRUE for part in folded)


def merge_selection_into_join(plan: Plan) -> Plan | None:
    """sigma_p(S1 |x|_J S2) = S1 |x|_{J AND p} S2.

    The join can then use the equalities of p, and `push_condition_below_join` moves parts over one side further down.
    Inner joins only, with an NRR too: an outer join would keep rows that the selection drops, filled with NULLs.
    """
    match plan:
        case Select(Join(kind=JoinKind.INNER) | NrrJoin(kind=JoinKind.INNER) as join, predicate):
            return replace(join, condition=call("and", join.condition, predicate))
    return None


def push_condition_below_join(plan: Plan) -> Plan | None:
    """S1 |x|_{J AND F1 AND F2} S2 = sigma_F1(S1) |x|_J sigma_F2(S2) for F1 over S1 alone and F2 over S2 alone.

    Rows that can have no partner are dropped before the join stores them. PatroumpasSellis2011 §5 writes one F on both
    sides; here each part moves to the side whose columns it reads, and a part over both stays. Only to a side whose
    rows need a partner: both sides of an inner and of a semi-join; the right one of a LEFT, an anti- or an NRR LEFT
    join; the left one of a RIGHT join; neither of a FULL join.
    """
    if not isinstance(plan, Join | SemiJoin | NrrJoin):
        return None
    left_needs, right_needs = _needs_partner(plan)
    width = len(plan.left.schema)
    left, rest = split(plan.condition, lambda read: left_needs and max(read) < width)
    right, stay = split(and_(rest), lambda read: right_needs and min(read) >= width)
    if not left and not right:
        return None
    below = selected(plan.right, [shift(part, -width) for part in right])
    return replace(plan, left=selected(plan.left, left), right=below, condition=and_(stay))


def _needs_partner(plan: Join | SemiJoin | NrrJoin) -> tuple[bool, bool]:
    """Whether a left and a right row need a partner to be part of a result."""
    if isinstance(plan, SemiJoin):
        return not plan.anti, True
    return plan.kind in (JoinKind.INNER, JoinKind.RIGHT), plan.kind in (JoinKind.INNER, JoinKind.LEFT)


def infer_across_equality(plan: Plan) -> Plan | None:
    """sigma_{a op c}(S1) |x|_{a = b} S2 = sigma_{a op c}(S1) |x|_{a = b} sigma_{b op c}(S2).

    The other side then stores fewer rows. For comparisons of plain columns with constants, and on a side whose rows
    need a partner (see `push_condition_below_join`): a row that fails the comparison can have none.
    """
    if not isinstance(plan, Join | SemiJoin | NrrJoin):
        return None
    width = len(plan.left.schema)
    pairs = [(a.index, b.index - width) for a, b in plan.equalities if isinstance(a, Column) and isinstance(b, Column)]
    left_needs, right_needs = _needs_partner(plan)
    left = _restricted(plan.left, plan.right, [(b, a) for a, b in pairs]) if left_needs else plan.left
    right = _restricted(plan.right, plan.left, pairs) if right_needs else plan.right
    return None if (left, right) == (plan.left, plan.right) else replace(plan, left=left, right=right)


def _restricted(side: Plan, other: Plan, pairs: Iterable[tuple[int, int]]) -> Plan:
    """A side with selections for all facts about the other side's columns that it does not imply itself.

    `pairs` are columns that must be equal: of the other side, and of this one.
    """
    known, inferred = facts(side), list[Expression]()
    for others, own in pairs:
        if is_plain(side, own):
            here = Column(own, side.schema[own].type, side.schema[own].name)
            about = [Call(f.function, (here, *f.args[1:]), f.type) for f in _facts_about(facts(other), others)]
            inferred += [fact for fact in about if not implies([*known, *inferred], fact)]
    return selected(side, inferred)


def _facts_about(known: Sequence[Expression], index: int) -> list[Call]:
    return [f for f in known if isinstance(f, Call) and isinstance(s := subject_of(f), Column) and s.index == index]


def commute_join(plan: Plan) -> Plan | None:
    """S1 |x| S2 = pi(S2 |x| S1), where pi restores the order of columns; LEFT becomes RIGHT.

    Joins of any windows are commutative (PatroumpasSellis2011 §5): a result has the later ts and the earlier exp.
    """
    if not isinstance(plan, Join):
        return None
    left, right = len(plan.left.schema), len(plan.right.schema)

    def swapped(index: int) -> int:
        return index + right if index < left else index - left

    condition = map_columns(plan.condition, lambda c: Column(swapped(c.index), c.type, c.name))
    other = Join(plan.right, plan.left, condition, _MIRRORED.get(plan.kind, plan.kind))
    items = (Named(column(other.schema, swapped(i)), field.name) for i, field in enumerate(plan.schema))
    return Project(other, tuple(items))


def associate_join(plan: Plan) -> Plan | None:
    """(S1 |x| S2) |x| S3 = S1 |x| (S2 |x| S3).

    Joins of any windows are associative (PatroumpasSellis2011 §5). Inner joins only. Parts of both conditions that read
    S2 and S3 alone become the condition of the lower join, all others that of the upper one.
    """
    match plan:
        case Join(Join(one, two, below, JoinKind.INNER), three, above, JoinKind.INNER):
            width = len(one.schema)
            lower, upper = split(and_([below, above]), lambda read: min(read) >= width)
            return Join(one, Join(two, three, and_([shift(part, -width) for part in lower])), and_(upper))
    return None
