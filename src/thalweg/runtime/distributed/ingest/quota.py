"""A limit on what a side output keeps: beyond it rows are only counted, so that a broken source cannot fill a disk."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from thalweg.core.errors import DataError


@dataclass(frozen=True)
class Quota:
    """How many rows and bytes a side output of a source keeps; the first ones."""

    rows: int = 1_000_000
    bytes: int = 256 * 2**20

    def __post_init__(self) -> None:
        if self.rows < 0 or self.bytes < 0:
            raise DataError(f"a side output keeps no negative number of rows or bytes, got {self}")

    def rest(self, table: pa.Table, rows: int, bytes_: int) -> pa.Table:
        """The first rows of a table that still fit, after `rows` rows of `bytes_` bytes; whole if they all do."""
        left = max(0, min(self.rows - rows, table.num_rows))
        room = self.bytes - bytes_
        if left and table.slice(0, left).nbytes > room:
            low, high = 0, left  # rows that fit, and rows that do not
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if table.slice(0, middle).nbytes <= room else (low, middle)
            left = low
        return table if left == table.num_rows else table.slice(0, left)

    def shared(self, shards: int) -> Quota:
        """The part of one shard: the shards of a query count on their own."""
        return Quota(-(-self.rows // shards), -(-self.bytes // shards))


QUOTA = Quota()
