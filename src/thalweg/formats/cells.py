"""Columns of text as columns of a type, all rows at once; cells that cannot be read are reported.

Texts are those of network logs: a TIMESTAMP is seconds since 1970, an INTERVAL is seconds, a BOOLEAN is T or F.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.core.lanes import Flags
from thalweg.core.time import FIRST_TIMESTAMP, LAST_TIMESTAMP, LONGEST, SECOND
from thalweg.core.types import NO_BIGINT, DataType

Readable = tuple[pa.Array, Flags]


def read_texts(texts: pa.Array, type_: DataType) -> Readable:
    """The values, NULL where the text is NULL or cannot be read, and a flag for each that cannot."""
    return _READERS[type_](texts)


def from_seconds(seconds: pa.Array, type_: DataType) -> Readable:
    """DOUBLE seconds as a TIMESTAMP or INTERVAL, to the nearest microsecond; a flag for each beyond its range."""
    least, most = (FIRST_TIMESTAMP, LAST_TIMESTAMP) if type_ is DataType.TIMESTAMP else (-LONGEST, LONGEST)
    micros = np.round(seconds.to_numpy(zero_copy_only=False).astype(np.float64) * SECOND)
    missing = np.asarray(seconds.is_null())
    with np.errstate(invalid="ignore"):
        outside = ~((micros >= least) & (micros <= most)) & ~missing
    values = np.where(missing | outside, 0, micros).astype(np.int64)
    return pa.array(values, mask=missing | outside).cast(type_.arrow), outside


def without_nan(doubles: pa.Array) -> pa.Array:
    """NaN is no DOUBLE: it reads as NULL."""
    nan = pc.is_nan(doubles)
    return pc.if_else(nan, None, doubles) if pc.any(nan).as_py() else doubles


def _cast(texts: pa.Array, type_: pa.DataType) -> Readable:
    try:
        return texts.cast(type_), np.zeros(len(texts), dtype=np.bool_)
    except pa.ArrowInvalid:
        wrong = pa.array([v.as_py() for v in texts.unique() if not _castable(v, type_)], pa.string())
        bad = pc.is_in(texts, value_set=wrong)
        return pc.if_else(bad, None, texts).cast(type_), np.asarray(bad)


def _castable(value: pa.Scalar, type_: pa.DataType) -> bool:
    try:
        value.cast(type_)
    except pa.ArrowInvalid:
        return False
    return True


def _bigint(texts: pa.Array) -> Readable:
    values, bad = _cast(texts, pa.int64())
    beyond = np.asarray(pc.fill_null(pc.equal(values, NO_BIGINT), False))
    return (pc.if_else(beyond, None, values), bad | beyond) if beyond.any() else (values, bad)


def _double(texts: pa.Array) -> Readable:
    values, bad = _cast(texts, pa.float64())
    return without_nan(values), bad


def _seconds(type_: DataType) -> Callable[[pa.Array], Readable]:
    def read(texts: pa.Array) -> Readable:
        seconds, bad = _cast(texts, pa.float64())
        values, outside = from_seconds(seconds, type_)
        return values, bad | outside

    return read


def _boolean(texts: pa.Array) -> Readable:
    yes, no = pc.equal(texts, "T"), pc.equal(texts, "F")
    known = pc.or_(yes, no)
    return pc.if_else(known, yes, None), np.asarray(pc.fill_null(pc.invert(known), False))


def _string(texts: pa.Array) -> Readable:
    return texts, np.zeros(len(texts), dtype=np.bool_)


_READERS: dict[DataType, Callable[[pa.Array], Readable]] = {
    DataType.BOOLEAN: _boolean,
    DataType.BIGINT: _bigint,
    DataType.DOUBLE: _double,
    DataType.STRING: _string,
    DataType.TIMESTAMP: _seconds(DataType.TIMESTAMP),
    DataType.INTERVAL: _seconds(DataType.INTERVAL),
}
