"""Predicates as clauses over attributes: conjunctive normal form, and the values that make a part of it true."""

from __future__ import annotations

from functools import reduce
from itertools import product

from thalweg.algebra.expressions import Call, Expression, Literal, call, conjuncts
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.flows.eddy.values import NO_NULL, ONLY_NULL, UNKNOWN, Truth, ValueSet, compared

_FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MOST_CLAUSES = 16  # of one conjunct; with more, the conjunct is evaluated as a whole

Disjunct = tuple[Expression, ValueSet]  # an attribute, and for which of its values the clause is true


def normal_form(predicate: Expression) -> list[Expression]:
    """Clauses (disjunctions) that are all true exactly where the predicate is (MaddenEtAl2002 §3.2.7)."""
    clauses: list[Expression] = []
    for part in conjuncts(predicate):
        found = _clauses(part, True)
        clauses += [part] if found is None else [reduce(lambda a, b: call("or", a, b), clause) for clause in found]
    return list(dict.fromkeys(clauses))


def disjuncts(clause: Expression, pool: StringPool) -> list[Disjunct]:
    """A clause as pairs of an attribute and a set of values: it is true where any attribute is in its set."""
    found: dict[Expression, ValueSet] = {}
    for part in _parts(clause):
        subject, truth = truth_of(part, pool)
        found[subject] = truth.true.join(found[subject]) if subject in found else truth.true
    return list(found.items())


def truth_of(predicate: Expression, pool: StringPool) -> tuple[Expression, Truth]:
    """The attribute of a predicate, and the predicate's truth for each value.

    A predicate that compares nothing with a constant is an attribute itself, with the values true and false.
    """
    match predicate:
        case Call(function, (subject, Literal() as constant)) if _compares(function, constant):
            return subject, _compared(function, constant, pool)
        case Call(function, (Literal() as constant, subject)) if _compares(function, constant):
            return subject, _compared(_FLIPPED[function], constant, pool)
        case Call("in", (subject, *members)) if all(isinstance(m, Literal) for m in members):
            equal = [_compared("=", m, pool) for m in members if isinstance(m, Literal)]
            return subject, reduce(Truth.either, equal)
        case Call("is_null", (subject,)):
            return subject, Truth(ONLY_NULL, NO_NULL)
        case Call("not", (part,)):
            subject, truth = truth_of(part, pool)
            return subject, truth.negated()
        case Call("and" | "or" as function, (one, other)):
            (mine, my_truth), (theirs, their_truth) = truth_of(one, pool), truth_of(other, pool)
            if mine == theirs:
                return mine, my_truth.both(their_truth) if function == "and" else my_truth.either(their_truth)
    return predicate, compared("=", 1).both(Truth(NO_NULL, compared("=", 0).true))


def _compares(function: str, constant: Literal) -> bool:
    """Whether a comparison can be looked up; codes of strings have no order."""
    return function in _FLIPPED and (constant.type is not DataType.STRING or function in ("=", "<>"))


def _compared(function: str, constant: Literal, pool: StringPool) -> Truth:
    match constant.value:
        case None:
            return UNKNOWN
        case str() as text:
            return compared(function, pool.code(text))
        case value:
            return compared(function, value)


def _parts(clause: Expression) -> list[Expression]:
    if isinstance(clause, Call) and clause.function == "or":
        return [part for arg in clause.args for part in _parts(arg)]
    return [clause]


def _clauses(part: Expression, wanted: bool) -> list[list[Expression]] | None:
    """The clauses of a predicate, or of its negation; None if they are too many."""
    match part:
        case Call("not", (inner,)):
            return _clauses(inner, not wanted)
        case Call("and" | "or" as function, args):
            sides = [_clauses(arg, wanted) for arg in args]
            known = [side for side in sides if side is not None]
            if len(known) < len(sides):
                return None
            if (function == "and") == wanted:
                return [clause for side in known for clause in side]
            if reduce(lambda n, side: n * len(side), known, 1) > _MOST_CLAUSES:
                return None
            return [[part for clause in chosen for part in clause] for chosen in product(*known)]
        case Call(function, args, type_) if not wanted and function in _OPPOSITE:
            return [[Call(_OPPOSITE[function], args, type_)]]
    return [[part if wanted else call("not", part)]]
