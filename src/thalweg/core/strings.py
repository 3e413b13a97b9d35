"""The string pool: stores each string of an engine once, under a small integer, its code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.core.errors import SnapshotError
from thalweg.core.runs import Run, with_run

Codes = npt.NDArray[np.int64]

_NULL = -(2**63)


class StringPool:
    """Strings by code, in order of appearance. Only distinct strings of a batch pass through Python."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._strings: list[str] = []
        self._array: pa.Array = pa.array([], pa.string())
        self._ranks: Codes = np.empty(0, dtype=np.int64)
        self._log: list[Run] = []  # the strings of the last snapshot, as lengths and UTF-8

    def __len__(self) -> int:
        return len(self._strings)

    def encode(self, array: pa.Array) -> Codes:
        """The codes of an Arrow string column; new strings get new codes."""
        encoded = array.dictionary_encode()
        codes = np.array([self.code(s) for s in encoded.dictionary.to_pylist()], dtype=np.int64)
        indices = encoded.indices
        if indices.null_count:
            codes = np.append(codes, _NULL)
            indices = indices.fill_null(len(codes) - 1)
        return np.asarray(codes[indices.to_numpy()]) if len(codes) else np.empty(0, dtype=np.int64)

    def code(self, string: str) -> int:
        """The code of one string."""
        found = self._codes.setdefault(string, len(self._strings))
        if found == len(self._strings):
            self._strings.append(string)
        return found

    def decode(self, codes: Codes) -> pa.Array:
        """The strings of codes, as an Arrow column."""
        missing = codes == _NULL
        indices = pa.array(codes, mask=missing if missing.any() else None)
        return self._dictionary().take(indices)

    def ranks(self, codes: Codes) -> Codes:
        """For each code the rank of its string among all strings of the pool, by code point."""
        if len(self._ranks) != len(self._strings):
            order = sorted(range(len(self._strings)), key=self._strings.__getitem__)
            self._ranks = np.empty(len(order), dtype=np.int64)
            self._ranks[order] = np.arange(len(order))
        missing = codes == _NULL
        if not len(self._ranks):
            return codes
        return np.where(missing, _NULL, self._ranks[np.where(missing, 0, codes)])

    def snapshot(self) -> list[Run]:
        """All strings in the order of their codes, as runs of lengths and UTF-8; later snapshots share them."""
        logged = sum(len(lengths) for lengths, _ in self._log)
        if logged < len(self._strings):
            self._log = with_run(self._log, _packed(self._strings[logged:]))
        return list(self._log)

    def restore(self, tree: list[Run]) -> None:
        """Take over the strings of a snapshot with their codes; codes that are in use already must agree."""
        strings = [string for run in tree for string in _unpacked(*run)]
        for code, (known, restored) in enumerate(zip(self._strings, strings, strict=False)):
            if known != restored:
                raise SnapshotError(
                    f"string {code} of the snapshot is {restored!r}, but here it is {known!r} already",
                    hint="restore into a pipeline that has just been built from the same plan, with a pool of its own",
                )
        for string in strings[len(self._strings) :]:
            self.code(string)
        self._log = list(tree)

    def _dictionary(self) -> pa.Array:
        if len(self._array) != len(self._strings):
            new = pa.array(self._strings[len(self._array) :], pa.string())
            self._array = pa.concat_arrays([self._array, new])
        return self._array


def _packed(strings: list[str]) -> Run:
    encoded = [string.encode() for string in strings]
    return np.array([len(e) for e in encoded], dtype=np.int64), np.frombuffer(b"".join(encoded), dtype=np.uint8)


def _unpacked(lengths: Codes, text: npt.NDArray[np.uint8]) -> list[str]:
    ends = np.cumsum(lengths)
    whole = text.tobytes()
    return [whole[start:end].decode() for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True)]
