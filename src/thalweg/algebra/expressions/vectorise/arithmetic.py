"""The four operations, remainder and sign on Arrow arrays. Overflow, and any other missing result, is NULL.

TIMESTAMP and INTERVAL are computed as their microseconds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions.vectorise.datum import (
    Columnar,
    Datum,
    Kernel,
    broadcast,
    elementwise,
    is_double,
    length_of,
    nullify,
    without_nan,
)
from thalweg.core.time import FIRST_TIMESTAMP, LAST_TIMESTAMP
from thalweg.core.types import NO_BIGINT, DataType

Overflow = Callable[[Columnar, Columnar, Columnar], Columnar]  # which rows of (left, right, wrapped result) overflow


def to_micros(datum: Datum) -> Datum:
    """A timestamp or interval as its microseconds; a BIGINT as it is."""
    return datum.cast(pa.int64())


def to_timestamp(micros: Datum) -> Datum:
    """Microseconds as timestamps; outside the years 1 to 9999 there is none."""
    outside = pc.or_(pc.less(micros, FIRST_TIMESTAMP), pc.greater(micros, LAST_TIMESTAMP))
    return nullify(micros, outside).cast(DataType.TIMESTAMP.arrow)


def _ring(plain: Kernel, checked: Kernel, overflow: Overflow) -> Kernel:
    """`plain` with NULL for rows that overflow; the rows are searched only if `checked` raises."""

    def integers(a: Datum, b: Datum) -> Datum:
        try:
            return _in_domain(checked(a, b))
        except pa.ArrowInvalid:
            wrapped = plain(a, b)
            rows = length_of(a, b)
            sides = [broadcast(x, rows).fill_null(0).to_numpy() for x in (a, b, wrapped)]
            with np.errstate(all="ignore"):
                return _in_domain(nullify(wrapped, pa.array(overflow(*sides))))

    def kernel(a: Datum, b: Datum) -> Datum:
        if is_double(a):
            return without_nan(plain(a, b))
        times = [pa.types.is_timestamp(x.type) for x in (a, b)]
        result = integers(to_micros(a), to_micros(b))
        if times in ([True, False], [False, True]):
            return to_timestamp(result)
        is_interval = all(times) or any(pa.types.is_duration(x.type) for x in (a, b))
        return result.cast(DataType.INTERVAL.arrow) if is_interval else result

    return kernel


def _product_overflows(a: Columnar, b: Columnar, wrapped: Columnar) -> Columnar:
    divisor = np.where(a == 0, 1, a)
    bad: Columnar = (a != 0) & (wrapped // divisor != b)
    return bad


def _divide(a: Datum, b: Datum) -> Datum:
    a, b = (x if is_double(x) else to_micros(x).cast(pa.float64(), safe=False) for x in (a, b))
    return without_nan(pc.divide(a, nullify(b, pc.equal(b, 0.0))))


def _modulo(a: Datum, b: Datum) -> Datum:
    b = nullify(b, pc.equal(b, pa.scalar(0, b.type)))
    result = elementwise(np.fmod, a, b)
    return without_nan(result) if is_double(a) else result


def _negate(a: Datum) -> Datum:
    if is_double(a):
        return pc.negate(a)
    return pc.negate(to_micros(a)).cast(a.type)


def _abs(a: Datum) -> Datum:
    return pc.abs(a)


def _in_domain(result: Datum) -> Datum:
    """An int64 as a BIGINT: -2^63 becomes NULL."""
    return nullify(result, pc.equal(result, NO_BIGINT))


ARITHMETIC: dict[str, Kernel] = {
    "+": _ring(pc.add, pc.add_checked, lambda a, b, r: (a ^ r) & (b ^ r) < 0),
    "-": _ring(pc.subtract, pc.subtract_checked, lambda a, b, r: (a ^ b) & (a ^ r) < 0),
    "*": _ring(pc.multiply, pc.multiply_checked, _product_overflows),
    "/": _divide,
    "%": _modulo,
    "negate": _negate,
    "abs": _abs,
    "sign": lambda a: pc.sign(a).cast(a.type),
}
