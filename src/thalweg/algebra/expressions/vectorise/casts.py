"""CAST on Arrow arrays; a value that cannot be converted becomes NULL."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions.texts import BIGINT_TEXT, DOUBLE_TEXT, FALSE_TEXTS, TIMESTAMP_FIELDS, TRUE_TEXTS
from thalweg.algebra.expressions.vectorise.datum import Columnar, Kernel, is_null, nullify
from thalweg.core.types import INT64_MAX, DataType


def truncate(doubles: pa.Array) -> pa.Array:
    """BIGINTs, cut off towards zero; NULL out of range."""
    inside = pc.and_(pc.greater(doubles, -(2.0**63)), pc.less(doubles, 2.0**63))
    return pc.trunc(nullify(doubles, pc.invert(inside))).cast(pa.int64(), safe=False)


def _show_double(doubles: pa.Array) -> pa.Array:
    values = doubles.fill_null(0).to_numpy() + 0.0  # zero has no sign
    return pa.array(values.astype(str), pa.string(), mask=is_null(doubles))


def _show_timestamp(moments: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(moments.cast(pa.string()), r"\.?0+$", "")  # as written, six digits of a second


def _matching(strings: pa.Array, pattern: str) -> pa.Array:
    """The strings without spaces around them; NULL where they do not match as a whole."""
    texts = pc.utf8_trim(strings, characters=" ")
    return nullify(texts, pc.invert(pc.match_substring_regex(texts, rf"\A(?:{pattern})\z")))


def _to_boolean(strings: pa.Array) -> pa.Array:
    words = pc.utf8_lower(pc.utf8_trim(strings, characters=" "))
    true, false = (pc.is_in(words, value_set=pa.array(texts)) for texts in (TRUE_TEXTS, FALSE_TEXTS))
    return nullify(true, pc.invert(pc.or_(true, false)))


def _to_bigint(strings: pa.Array) -> pa.Array:
    texts = pc.replace_substring_regex(_matching(strings, BIGINT_TEXT), r"\A([+-]?)0*([0-9])", r"\1\2")
    digits = pc.utf8_ltrim(texts, characters="+-")
    longer = pc.greater(pc.utf8_length(digits), 19)
    # Numbers of nineteen digits are in the order of their texts.
    greater = pc.and_(pc.equal(pc.utf8_length(digits), 19), pc.greater(digits, str(INT64_MAX)))
    return nullify(pc.utf8_ltrim(texts, characters="+"), pc.or_(longer, greater)).cast(pa.int64())


def _to_timestamp(strings: pa.Array) -> pa.Array:
    fields = pc.extract_regex(pc.utf8_trim(strings, characters=" "), rf"\A{TIMESTAMP_FIELDS}\z")
    matched = fields.is_valid().to_numpy(zero_copy_only=False)
    year, month, day, hour, minute, second = (
        _field(fields, name) for name in ("year", "month", "day", "hour", "minute", "second")
    )
    fraction = pc.utf8_slice_codeunits(pc.utf8_rpad(pc.struct_field(fields, "fraction"), 6, "0"), 0, 6)
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    date = months.astype("datetime64[D]") + (day - 1)
    seconds = (hour * 60 + minute) * 60 + second
    micros = date.astype("datetime64[us]").astype(np.int64) + seconds * 1_000_000 + _numbers(fraction)
    real = matched & (date.astype("datetime64[M]") == months)  # June has no 31st
    return pa.array(micros, mask=~real).cast(DataType.TIMESTAMP.arrow)


def _field(fields: pa.Array, name: str) -> Columnar:
    return _numbers(pc.struct_field(fields, name))


def _numbers(texts: pa.Array) -> Columnar:
    """Digits as numbers; the empty text as zero."""
    numbers: Columnar = nullify(texts, pc.equal(texts, "")).cast(pa.int64()).fill_null(0).to_numpy()
    return numbers


CASTS: dict[tuple[DataType, DataType], Kernel] = {
    (DataType.BOOLEAN, DataType.BIGINT): lambda a: a.cast(pa.int64()),
    (DataType.BOOLEAN, DataType.STRING): lambda a: a.cast(pa.string()),
    (DataType.BIGINT, DataType.BOOLEAN): lambda a: pc.not_equal(a, 0),
    (DataType.BIGINT, DataType.DOUBLE): lambda a: a.cast(pa.float64(), safe=False),
    (DataType.BIGINT, DataType.STRING): lambda a: a.cast(pa.string()),
    (DataType.DOUBLE, DataType.BIGINT): truncate,
    (DataType.DOUBLE, DataType.STRING): _show_double,
    (DataType.STRING, DataType.BOOLEAN): _to_boolean,
    (DataType.STRING, DataType.BIGINT): _to_bigint,
    (DataType.STRING, DataType.DOUBLE): lambda a: _matching(a, DOUBLE_TEXT).cast(pa.float64()),
    (DataType.STRING, DataType.TIMESTAMP): _to_timestamp,
    (DataType.TIMESTAMP, DataType.STRING): _show_timestamp,
}
