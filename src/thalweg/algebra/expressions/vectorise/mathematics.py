"""Rounding, roots, powers and logarithms on Arrow arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions.vectorise.datum import Columnar, Datum, Kernel, elementwise, nullify, without_nan

_MOST_DIGITS = 308
_POWERS_OF_TEN = np.array([float(f"1e{n}") for n in range(_MOST_DIGITS + 1)])


def half_away(x: Columnar) -> Columnar:
    """Whole numbers, halves away from zero: both steps are exact, unlike adding a half."""
    whole = np.trunc(x)
    rounded: Columnar = whole + np.trunc((x - whole) * 2)
    return np.where(np.isfinite(x), rounded, x)


def _to_digits(x: Columnar, digits: Columnar) -> Columnar:
    scale = _POWERS_OF_TEN[np.abs(np.clip(digits, -_MOST_DIGITS, _MOST_DIGITS))]
    result = np.where(digits >= 0, half_away(x * scale) / scale, half_away(x / scale) * scale)
    return np.where(np.isfinite(result), result, x)


def _round(x: Datum, digits: Datum | None = None) -> Datum:
    if digits is not None:
        return elementwise(_to_digits, x, digits)
    return x if pa.types.is_integer(x.type) else elementwise(half_away, x)


def _power(x: Datum, y: Datum) -> Datum:
    through_zero = pc.and_(pc.equal(x, 0.0), pc.less(y, 0.0))
    return without_nan(nullify(pc.power(x, y), through_zero))


MATHEMATICS: dict[str, Kernel] = {
    "ceil": pc.ceil,
    "floor": pc.floor,
    "round": _round,
    "sqrt": lambda x: without_nan(pc.sqrt(x)),
    "exp": pc.exp,
    "ln": lambda x: pc.ln(nullify(x, pc.less_equal(x, 0.0))),
    "log10": lambda x: pc.log10(nullify(x, pc.less_equal(x, 0.0))),
    "power": _power,
}
