"""The string pool: the strings of an engine by code, an integer (`core/value_pool.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.core.errors import DataError, SnapshotError
from thalweg.core.value_pool import NULL, Codes, Flags, ValuePool


class StringPool(ValuePool):
    """Strings by code; NULL is the least integer."""

    def __init__(self) -> None:
        super().__init__(pa.large_string())
        self._literals: dict[str, int] = {}  # codes that callers keep

    def encode(self, array: pa.Array) -> Codes:
        """The codes of an Arrow string column; new strings get new codes."""
        if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
            array = array.cast(pa.large_string())
        return super().encode(array)

    def code(self, string: str) -> int:
        """The code of one string, for callers that keep it: a restore that gives it another meaning is refused."""
        if string not in self._literals:
            self._literals[string] = int(self.encode(pa.array([string], pa.string()))[0])
        return self._literals[string]

    def decode(self, codes: Codes) -> pa.Array:
        """The strings of codes, as an Arrow column."""
        taken = super().decode(codes)
        try:
            return taken.cast(pa.string())
        except pa.ArrowInvalid:
            raise DataError(
                f"a batch has {taken.nbytes / 2**30:.1f} GiB of text in one column, and a column can have 2",
                hint="let fewer rows arrive at a time, or cut the strings: SUBSTR(column, 1, 1000)",
            ) from None

    def ranks(self, codes: Codes) -> Codes:
        """For each code the rank of its string among the strings of these codes, by code point; NULL stays NULL."""
        distinct, places = np.unique(codes, return_inverse=True)
        known = len(distinct) - int((distinct == NULL).any())
        ranks = np.full(len(distinct), NULL)
        strings = distinct[len(distinct) - known :]  # NULL is the least
        order = np.asarray(pc.array_sort_indices(self.decode(strings)).to_numpy(), dtype=np.int64)
        ranks[len(distinct) - known + order] = np.arange(known)
        return ranks[places]

    def keep(self, marks: Flags, work: int) -> None:
        """Forget all strings whose codes, counted from the first, have no mark; `work` integers were read for it."""
        super().keep(marks, work)
        kept = {text: code for text, code in self._literals.items() if marks[code - self._first]}
        self._literals = kept

    def restore(self, tree: Any) -> None:
        """Take over the strings of a snapshot with their codes; codes that callers of `code` keep must agree."""
        super().restore(tree)
        literals, self._literals = self._literals, {}
        for text, code in literals.items():
            self._check_literal(text, code)

    def _check_literal(self, text: str, code: int) -> None:
        """Somebody keeps the code of this text, so it must be the same here."""
        place, size = code - self._first, self._codes.size
        held = self._at(np.array([place]))[0].as_py() if 0 <= place < size and self._slots[place] >= 0 else "nothing"
        if self.code(text) != code:
            raise SnapshotError(
                f"string {place} of the snapshot is {held!r}, but here it is {text!r} already",
                hint="restore into a pipeline that has just been built from the same plan, with a pool of its own",
            )
