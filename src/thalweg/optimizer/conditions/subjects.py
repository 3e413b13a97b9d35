"""The parts of a conjunction that compare one expression, their subject, with constants."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from thalweg.algebra.expressions import FALSE, Call, Expression, Literal
from thalweg.core.types import DataType
from thalweg.optimizer.conditions.order import spelling

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def subject_of(part: Expression) -> Expression | None:
    """The expression that a part compares with constants other than NULL, or tests for NULL; None for other parts."""
    match part:
        case Call("is_null", (subject,)) | Call("not", (Call("is_null", (subject,)),)):
            return subject
        case Call(function, (subject, *constants)) if function in _COMPARE or function == "in":
            known = all(isinstance(c, Literal) and c.value is not None for c in constants)
            return subject if known and not isinstance(subject, Literal) else None
    return None


@dataclass
class SubjectFacts:
    """What the parts about one subject say together, as the fewest parts of the same meaning."""

    subject: Expression
    among: list[Literal] | None = None  # the only values that the subject may have
    bounds: dict[str, Literal] = field(default_factory=dict)  # the tightest for each of ">", ">=", "<", "<="
    excluded: list[Literal] = field(default_factory=list)
    null: bool = False
    not_null: bool = False

    def add(self, part: Expression) -> None:
        """Add the fact that a part states."""
        match part:
            case Call("is_null"):
                self.null = True
            case Call("not"):
                self.not_null = True
            case Call("=" | "in", (_, *constants)):
                values = [c for c in constants if isinstance(c, Literal)]
                self.among = values if self.among is None else [v for v in self.among if _holds("in", v, values)]
            case Call("<>", (_, Literal() as value)):
                self.excluded.append(value)
            case Call(function, (_, Literal() as value)):
                known = self.bounds.get(function)
                if known is None or _holds(function.rstrip("="), value, [known]):
                    self.bounds[function] = value

    def parts(self) -> list[Expression]:
        """The fewest parts of the same meaning; FALSE alone if no value satisfies them."""
        bounds = self._bounds()
        limited = self.among is not None or bool(bounds) or bool(self.excluded)
        if self.null:
            return [FALSE] if limited or self.not_null else [self._call("is_null")]
        if self.among is not None:
            tests = [*bounds.items(), *(("<>", value) for value in self.excluded)]
            values = [v for v in self.among if all(_holds(function, v, [c]) for function, c in tests)]
            return [self._among(values)]
        if _is_empty(bounds):
            return [FALSE]
        if ">=" in bounds and "<=" in bounds and bounds[">="].value == bounds["<="].value:
            return [self._call("=", bounds[">="])]
        apart = {v.value: v for v in self.excluded if all(_holds(f, v, [c]) for f, c in bounds.items())}
        found = [self._call(f, c) for f, c in bounds.items()] + [self._call("<>", v) for v in apart.values()]
        if not found and self.not_null:
            found = [Call("not", (self._call("is_null"),), DataType.BOOLEAN)]
        return sorted(found, key=spelling)

    def _bounds(self) -> dict[str, Literal]:
        """At most one lower and one upper bound; a bound whose constant is excluded becomes strict."""
        found: dict[str, Literal] = {}
        for strict, loose in ((">", ">="), ("<", "<=")):
            tight, wide = self.bounds.get(strict), self.bounds.get(loose)
            if wide is not None and any(v.value == wide.value for v in self.excluded):
                tight = wide if tight is None or _holds(strict, wide, [tight]) else tight
                wide = None
            if tight is not None and (wide is None or not _holds(strict, wide, [tight])):
                found[strict] = tight
            elif wide is not None:
                found[loose] = wide
        return found

    def _among(self, values: Sequence[Literal]) -> Expression:
        unique = sorted({v.value: v for v in values}.values(), key=spelling)
        if not unique:
            return FALSE
        return self._call("=", unique[0]) if len(unique) == 1 else self._call("in", *unique)

    def _call(self, function: str, *args: Expression) -> Call:
        return Call(function, (self.subject, *args), DataType.BOOLEAN)


def _holds(function: str, value: Literal, constants: Sequence[Literal]) -> bool:
    """Whether `value function constant` is true; values of one type, none of them NULL, are ordered as in SQL."""
    if function == "in":
        return any(value.value == c.value for c in constants)
    return _COMPARE[function](value.value, constants[0].value)


def _is_empty(bounds: dict[str, Literal]) -> bool:
    lows = [(f, c) for f, c in bounds.items() if f.startswith(">")]
    highs = [(f, c) for f, c in bounds.items() if f.startswith("<")]
    return any(
        _holds(">", low, [high]) or (low.value == high.value and not (f == ">=" and g == "<="))
        for f, low in lows
        for g, high in highs
    )
