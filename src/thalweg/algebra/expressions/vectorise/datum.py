"""Arguments and results of kernels: Arrow arrays and, for constants, Arrow scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Datum: TypeAlias = pa.Array | pa.Scalar
# A kernel gets its function's arguments, at least one of them an array; all arrays are equally long.
Kernel = Callable[..., Datum]
Columnar = np.ndarray[Any, np.dtype[Any]]


def length_of(*args: Datum) -> int:
    """The number of rows."""
    return next(len(a) for a in args if isinstance(a, pa.Array))


def broadcast(datum: Datum, rows: int) -> pa.Array:
    """The datum as an array of `rows` values."""
    return pa.repeat(datum, rows) if isinstance(datum, pa.Scalar) else datum


def nullify(values: Datum, where: Datum) -> Datum:
    """`values` with NULL wherever `where` is true; nothing is copied if it is true nowhere."""
    if isinstance(where, pa.Array) and isinstance(values, pa.Array) and not pc.any(where).as_py():
        return values
    return pc.if_else(where, pa.scalar(None, values.type), values)


def without_nan(values: Datum) -> Datum:
    """NaN becomes NULL."""
    return nullify(values, pc.is_nan(values))


def elementwise(function: Callable[..., Columnar], *args: Datum) -> pa.Array:
    """A NumPy function over numbers; NULL where any argument is, and there the function sees a one."""
    rows = length_of(*args)
    columns = [broadcast(a, rows) for a in args]
    with np.errstate(all="ignore"):
        result = function(*(c.fill_null(1).to_numpy() for c in columns))
    return pa.array(result, mask=is_null(*columns))


def is_null(*columns: pa.Array) -> Columnar | None:
    """Which rows have a NULL in any column, or None if no row has."""
    with_nulls = [c.is_null().to_numpy(zero_copy_only=False) for c in columns if c.null_count]
    return np.logical_or.reduce(with_nulls) if with_nulls else None


def is_double(datum: Datum) -> bool:
    """Whether the datum is DOUBLE."""
    return bool(pa.types.is_floating(datum.type))
