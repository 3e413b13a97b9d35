"""A change of expressions that is computed once for each expression: rules ask for it again and again."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.algebra.expressions import Call, Expression

Change = Callable[[Expression], Expression]


def once(change: Change) -> Change:
    """The same change; its result is kept with the expression itself, for equal expressions may name columns otherwise.

    An expression that it leaves as it is stays the same object, so that the next question is answered at once.
    """
    key = f"_{change.__name__}"

    def changed(expression: Expression) -> Expression:
        if not isinstance(expression, Call):
            return change(expression)
        known: Expression | None = vars(expression).get(key)
        if known is None:
            known = change(expression)
            if known == expression:
                known = expression
            vars(expression)[key] = known
        return known

    return changed
