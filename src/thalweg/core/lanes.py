"""Lanes: columns as NumPy arrays with NULL in band, so that no operator carries masks about.

| type | lane | NULL |
|---|---|---|
| BIGINT, TIMESTAMP, INTERVAL | int64 | -2^63, which is no BIGINT (docs/semantics.md) |
| BOOLEAN | int64: 0, 1 | -2^63 |
| STRING | int64: a code of the string pool | -2^63 |
| DOUBLE | float64 | NaN, which is no DOUBLE |
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.core.strings import StringPool
from thalweg.core.types import DataType

Lane = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NULL = np.int64(-(2**63))
_TIMES = {DataType.TIMESTAMP: pa.timestamp("us"), DataType.INTERVAL: pa.duration("us")}


def lane_dtype(type_: DataType) -> type[np.float64] | type[np.int64]:
    """The NumPy type of a lane."""
    return np.float64 if type_ is DataType.DOUBLE else np.int64


def to_lane(array: pa.Array, type_: DataType, pool: StringPool) -> Lane:
    """An Arrow column of `type_` as a lane."""
    if type_ is DataType.STRING:
        return pool.encode(array)
    if type_ is DataType.DOUBLE:
        return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)  # Arrow's nulls become NaN
    if type_ is DataType.NULL:
        return np.full(len(array), NULL)
    ints = array.cast(pa.int64()) if type_ is not DataType.BIGINT else array
    if ints.null_count:
        ints = ints.fill_null(int(NULL))
    return np.asarray(ints.to_numpy(), dtype=np.int64)


def from_lane(lane: Lane, type_: DataType, pool: StringPool) -> pa.Array:
    """A lane as an Arrow column of `type_`."""
    if type_ is DataType.STRING:
        return pool.decode(lane)
    missing = is_null(lane)
    mask = missing if missing.any() else None
    if type_ is DataType.DOUBLE:
        return pa.array(lane, mask=mask)
    if type_ is DataType.NULL:
        return pa.nulls(len(lane))
    if type_ is DataType.BOOLEAN:
        return pa.array(lane == 1, mask=mask)
    ints = pa.array(lane, pa.int64(), mask=mask)
    return ints.cast(_TIMES[type_]) if type_ in _TIMES else ints


def is_null(lane: Lane) -> Flags:
    """Where a lane is NULL."""
    return np.isnan(lane) if lane.dtype == np.float64 else np.equal(lane, NULL)


def identity(lane: Lane) -> Ints:
    """An int64 lane that is equal exactly where values are (NULLs too): what keys are made of."""
    if lane.dtype != np.float64:
        return lane
    bits: Ints = (lane + 0.0).view(np.int64)  # -0.0 + 0.0 is 0.0
    return np.where(np.isnan(lane), NULL, bits)


def null_lane(type_: DataType, rows: int) -> Lane:
    """A lane of NULLs."""
    return np.full(rows, np.nan) if type_ is DataType.DOUBLE else np.full(rows, NULL)


def sortable(lane: Lane, type_: DataType, pool: StringPool) -> Lane:
    """A lane whose numeric order is the values' order, within this lane alone. NULL stays NULL.

    Strings are replaced by their ranks among the lane's strings, so the results of two calls cannot be compared.
    """
    return pool.ranks(lane) if type_ is DataType.STRING else lane
