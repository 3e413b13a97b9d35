"""Functions that look for one string in another.

Arrow's kernels take a constant pattern; where patterns come from a column, each distinct one is looked for in the rows
that have it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions.vectorise.characters import Characters
from thalweg.algebra.expressions.vectorise.datum import Datum, Kernel, broadcast, length_of
from thalweg.core.types import DataType

# A function of an array of strings and constant patterns; None means that it has no value.
Search = Callable[..., pa.Array | None]


def _searching(search: Search, result: DataType) -> Kernel:
    def searched(strings: pa.Array, patterns: list[str | None]) -> pa.Array:
        found = None if None in patterns else search(strings, *patterns)
        return pa.nulls(len(strings), result.arrow) if found is None else found

    def kernel(strings: Datum, *patterns: Datum) -> Datum:
        rows = length_of(strings, *patterns)
        strings = broadcast(strings, rows)
        if rows == 0 or all(isinstance(p, pa.Scalar) for p in patterns):
            return searched(strings, [p.as_py() if isinstance(p, pa.Scalar) else "" for p in patterns])
        encoded = [broadcast(p, rows).dictionary_encode(null_encoding="encode") for p in patterns]
        distinct, of_row = np.unique(np.stack([e.indices.to_numpy() for e in encoded]), axis=1, return_inverse=True)
        order = np.argsort(of_row.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(of_row.ravel()))
        together = strings.take(pa.array(order))
        parts = [
            searched(
                together.slice(begin, end - begin),
                [e.dictionary[int(i)].as_py() for e, i in zip(encoded, codes, strict=True)],
            )
            for begin, end, codes in zip(np.append(0, ends[:-1]), ends, distinct.T, strict=True)
        ]
        back = np.empty_like(order)
        back[order] = np.arange(rows)
        return pa.concat_arrays(parts).take(pa.array(back))

    return kernel


def _like(strings: pa.Array, pattern: str) -> pa.Array | None:
    if not re.fullmatch(r"(?s:[^\\]|\\.)*", pattern):  # an escape character escapes nothing
        return None
    tokens = re.findall(r"(?s:\\.|.)", pattern)
    expression = "".join({"%": ".*", "_": "."}.get(t) or _quote(t[-1]) for t in tokens)
    return pc.match_substring_regex(strings, rf"(?s)\A{expression}\z")


def _quote(character: str) -> str:
    """A character that stands for itself in RE2."""
    return character if character.isalnum() else rf"\x{{{ord(character):x}}}"


def _position(strings: pa.Array, part: str) -> pa.Array:
    found = pc.find_substring(strings, part)
    position = Characters.of(strings).number_of(np.maximum(found.fill_null(-1).to_numpy(), 0)) + 1
    return pc.if_else(pc.less(found, 0), 0, pa.array(position))


def _replace(strings: pa.Array, old: str, new: str) -> pa.Array:
    return pc.replace_substring(strings, old, new) if old else strings


PATTERNS: dict[str, Kernel] = {
    "like": _searching(_like, DataType.BOOLEAN),
    "replace": _searching(_replace, DataType.STRING),
    "strpos": _searching(_position, DataType.BIGINT),
    "starts_with": _searching(lambda s, part: pc.starts_with(s, part), DataType.BOOLEAN),
    "ends_with": _searching(lambda s, part: pc.ends_with(s, part), DataType.BOOLEAN),
}
