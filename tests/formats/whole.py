"""A file's chunks, put together again."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from thalweg.formats import BadLine, Chunk


def whole(chunks: Iterable[Chunk]) -> tuple[pa.Table, list[int], list[BadLine]]:
    """All rows, the number of each one's line, and what could not be read."""
    parts = list(chunks)
    lines = np.concatenate([chunk.lines for chunk in parts]).tolist()
    table = pa.concat_tables([chunk.table for chunk in parts]).combine_chunks()
    assert table.num_rows == len(lines)
    return table, lines, [bad for chunk in parts for bad in chunk.bad]
