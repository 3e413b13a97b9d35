"""Characters in Arrow's UTF-8 buffers: where they start, and slices of them with bounds that differ per row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from thalweg.algebra.expressions.vectorise.datum import Columnar, is_null


@dataclass(frozen=True)
class Characters:
    """The characters of a string array.

    `bytes` are those of all rows, one after the other; row i has `bytes[offsets[i]:offsets[i+1]]`, and its characters
    are numbers `first[i]` to `first[i+1]` of `starts`, the positions where characters start (and the end).
    """

    array: pa.Array
    bytes: Columnar
    offsets: Columnar
    starts: Columnar
    first: Columnar

    @staticmethod
    def of(array: pa.Array) -> Characters:
        """The characters of `array`, which may be a slice of another."""
        _, offsets_buffer, data = array.buffers()
        rows = len(array)
        offsets = np.zeros(1, np.int32)
        if rows:
            offsets = np.frombuffer(offsets_buffer, np.int32)[array.offset : array.offset + rows + 1]
        everything = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
        used = everything[offsets[0] : offsets[-1]]
        offsets = offsets - offsets[0]
        starts = np.flatnonzero((used & 0xC0) != 0x80)  # all but the second and later bytes of a character
        first = np.searchsorted(starts, offsets)
        return Characters(array, used, offsets, np.append(starts, len(used)), first)

    @property
    def lengths(self) -> Columnar:
        """Characters per row."""
        return np.diff(self.first)

    def slice(self, begin: Columnar, end: Columnar, *also: pa.Array) -> pa.Array:
        """Characters `begin` to `end` (exclusive, from 0) of each row; NULL where it or one of `also` is NULL.

        Bounds outside the row are brought to its ends.
        """
        begin, end = (np.clip(bound, 0, self.lengths) for bound in (begin, end))
        low = self.starts[self.first[:-1] + begin]
        sizes = np.maximum(self.starts[self.first[:-1] + end] - low, 0)
        offsets = np.zeros(len(sizes) + 1, np.int32)
        np.cumsum(sizes, out=offsets[1:])
        picked = np.repeat(low - offsets[:-1], sizes) + np.arange(offsets[-1])
        mask = is_null(self.array, *also)
        validity = None if mask is None else pa.array(~mask).buffers()[1]
        buffers = [validity, pa.py_buffer(offsets.tobytes()), pa.py_buffer(self.bytes[picked].tobytes())]
        return pa.Array.from_buffers(pa.string(), len(sizes), buffers)

    def number_of(self, byte: Columnar) -> Columnar:
        """The number (from 0) in its row of the character that starts at byte `byte` of each row."""
        found: Columnar = np.searchsorted(self.starts, self.offsets[:-1] + byte) - self.first[:-1]
        return found
