"""Conditions with fewer parts. A condition keeps a row only if it is true, so NULL counts as FALSE here."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.expressions import FALSE, Call, Expression, Literal, and_, chain, conjuncts, flattened
from thalweg.optimizer.conditions.fold import NEGATED
from thalweg.optimizer.conditions.order import spelling
from thalweg.optimizer.conditions.subjects import SubjectFacts, subject_of


def simplify(condition: Expression) -> Expression:
    """A condition that is true for the same rows, without duplicates and parts that others imply.

    A contradiction becomes FALSE. Fold and order the condition first: parts are compared by their spelling.
    """
    return and_(_conjunction(conjuncts(_true_only(condition))))


def implies(known: Sequence[Expression], part: Expression) -> bool:
    """Whether `part` is true for every row for which all of `known` are."""
    before = _conjunction([_true_only(p) for p in known])
    return set(_conjunction([*before, _true_only(part)])) == set(before)


def _true_only(condition: Expression) -> Expression:
    """A simpler condition that is true for the same rows; it may be FALSE instead of NULL."""
    match condition:
        case Call("and" | "or" as function):
            return _connected(function, [_true_only(part) for part in flattened(condition, function)])
        case Call("in", (subject, *members), type_):
            known = tuple(m for m in members if not (isinstance(m, Literal) and m.value is None))
            return Call("in", (subject, *known), type_) if known else FALSE
        case Call("<>" | "<" | ">" | "is_distinct", (a, b)) if a == b:
            return FALSE
        case Call("=" | "<=" | ">=", (a, b), type_) if a == b:
            return Call("not", (Call("is_null", (a,), type_),), type_)
        case Literal(value) if value is not True:
            return FALSE
    return condition


def _connected(function: str, parts: list[Expression]) -> Expression:
    if function == "or":
        parts = [part for part in parts if part != FALSE]
    parts = sorted(set(parts), key=spelling)
    if (function == "and" and FALSE in parts) or not parts:
        return FALSE
    return chain(function, parts)


def _conjunction(parts: Sequence[Expression]) -> list[Expression]:
    """The parts without those that others imply; FALSE alone if they contradict each other."""
    found = _simplified_once(list(dict.fromkeys(parts)))
    return found if set(found) == set(parts) else _conjunction(found)


def _simplified_once(parts: Sequence[Expression]) -> list[Expression]:
    """One round of simplification; its result may allow another round."""
    if FALSE in parts or any(_opposite(part) in parts for part in parts):
        return [FALSE]
    by_subject: dict[Expression, SubjectFacts] = {}
    others: list[Expression] = []
    for part in parts:
        subject = subject_of(part)
        if subject is None:
            others.append(part)
        else:
            by_subject.setdefault(subject, SubjectFacts(subject)).add(part)
    others = [part for part in others if not _absorbed(part, parts)]
    found = [*others, *(part for facts in by_subject.values() for part in facts.parts())]
    return [FALSE] if FALSE in found else sorted(found, key=spelling)


def _absorbed(part: Expression, parts: Sequence[Expression]) -> bool:
    """p AND (p OR q) = p."""
    return isinstance(part, Call) and part.function == "or" and any(arm in parts for arm in flattened(part, "or"))


def _opposite(part: Expression) -> Expression | None:
    """The negation of a part, if it has a simple form."""
    match part:
        case Call("not", (inner,)):
            return inner
        case Call(function, args, type_) if function in NEGATED:
            return Call(NEGATED[function], args, type_)
    return None
