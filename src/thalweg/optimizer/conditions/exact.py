"""Values that count as equal but are not the same: 0.0 and -0.0."""

from __future__ import annotations

from thalweg.algebra.expressions import Call, Case, Cast, Expression, UserFunction
from thalweg.core.types import DataType


def tells_zeros_apart(expression: Expression) -> bool:
    """Whether an expression may differ between 0.0 and -0.0, which are one value to DISTINCT, GROUP BY and `=`.

    Only as text, as the base of a power, or to a user's function does the sign of a zero show.
    """
    match expression:
        case Call(function, args):
            return function == "power" or isinstance(function, UserFunction) or any(map(tells_zeros_apart, args))
        case Cast(operand, to):
            as_text = operand.type is DataType.DOUBLE and to is DataType.STRING
            return as_text or tells_zeros_apart(operand)
        case Case(branches, default):
            return any(tells_zeros_apart(part) for branch in (*branches, (default,)) for part in branch)
    return False
