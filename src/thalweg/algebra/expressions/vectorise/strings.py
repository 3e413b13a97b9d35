"""Functions of strings on Arrow arrays. Characters are code points, counted from 1."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions.vectorise.characters import Characters
from thalweg.algebra.expressions.vectorise.datum import Columnar, Datum, Kernel, broadcast, length_of
from thalweg.algebra.expressions.vectorise.patterns import PATTERNS
from thalweg.core.types import INT64_MAX, INT64_MIN

_INT32_MAX = 2**31 - 1  # no string is longer; small enough to add to without overflow


def _counts(counts: pa.Array) -> Columnar:
    clipped: Columnar = np.clip(counts.fill_null(0).to_numpy(), -_INT32_MAX, _INT32_MAX)
    return clipped


def _between(strings: pa.Array, begin: int, end: int) -> pa.Array:
    """Characters `begin` to `end` (exclusive, from 0), the same for all rows: Arrow's own way is the fastest."""
    begin, end = (max(0, min(bound, _INT32_MAX)) for bound in (begin, end))
    return pc.utf8_slice_codeunits(strings, begin, max(begin, end))


def _left(strings: Datum, counts: Datum) -> Datum:
    if isinstance(counts, pa.Scalar) and counts.is_valid:
        return _between(strings, 0, counts.as_py())
    strings, counts = (broadcast(a, length_of(strings, counts)) for a in (strings, counts))
    end = _counts(counts)
    return Characters.of(strings).slice(np.zeros_like(end), end, counts)


def _right(strings: Datum, counts: Datum) -> Datum:
    strings, counts = (broadcast(a, length_of(strings, counts)) for a in (strings, counts))
    characters = Characters.of(strings)
    return characters.slice(characters.lengths - _counts(counts), characters.lengths, counts)


def _substring(strings: Datum, start: Datum, count: Datum | None = None) -> Datum:
    bounds = [start] if count is None else [start, count]
    match [b.as_py() if isinstance(b, pa.Scalar) else None for b in bounds]:
        case [int(first)]:
            return _between(strings, first - 1, _INT32_MAX)
        case [int(first), int(length)] if length >= 0:
            return _between(strings, first - 1, first - 1 + length)
    rows = length_of(strings, *bounds)
    strings, start = broadcast(strings, rows), broadcast(start, rows)
    characters = Characters.of(strings)
    begin = _counts(start) - 1
    if count is None:
        return characters.slice(begin, characters.lengths, start)
    count = broadcast(count, rows)
    count = pc.if_else(pc.less(count, 0), None, count)  # a negative length has no result
    return characters.slice(begin, _end(start.fill_null(0).to_numpy(), count.fill_null(0).to_numpy()), start, count)


def _end(start: Columnar, count: Columnar) -> Columnar:
    """start + count - 1 for counts from 0 on, at most the greatest BIGINT."""
    begin = np.maximum(start, INT64_MIN + 1) - 1
    end: Columnar = begin + np.minimum(count, INT64_MAX - np.maximum(begin, 0))
    return end


STRINGS: dict[str, Kernel] = {
    "||": lambda a, b: pc.binary_join_element_wise(a, b, ""),
    # Arrow's own null_handling="skip" loses rows in which all are NULL.
    "concat": lambda *args: pc.binary_join_element_wise(*(pc.coalesce(a, "") for a in args), ""),
    "length": lambda s: pc.utf8_length(s).cast(pa.int64()),
    "upper": pc.utf8_upper,
    "lower": pc.utf8_lower,
    "trim": lambda s: pc.utf8_trim(s, characters=" "),
    "ltrim": lambda s: pc.utf8_ltrim(s, characters=" "),
    "rtrim": lambda s: pc.utf8_rtrim(s, characters=" "),
    "reverse": pc.utf8_reverse,
    "left": _left,
    "right": _right,
    "substring": _substring,
    **PATTERNS,
}
