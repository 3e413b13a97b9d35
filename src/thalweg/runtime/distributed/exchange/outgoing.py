"""Rows that the groups of a shard send to later stages, packed together: one message for each group that gets some."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from thalweg.core.time import Instant
from thalweg.runtime.distributed.exchange.codec import pack
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.exchange.partitioning import Groups, sort_by_group


class OutgoingRows:
    """Rows by port, each with the group that it belongs to."""

    def __init__(self) -> None:
        self._rows: defaultdict[int, list[tuple[pa.RecordBatch, Groups | int]]] = defaultdict(list)

    def add(self, port: int, rows: pa.RecordBatch, groups: Groups | int) -> None:
        """More rows for a port: the group of each, or the one group of all."""
        self._rows[port].append((rows, groups))

    def messages(self, shard: int, clock: Instant, system: int) -> Iterator[Message]:
        """All rows; those of a group in the order in which they were added."""
        for port, added in self._rows.items():
            for group, rows in _by_group(added):
                yield Message(MessageKind.ROWS, group, port, shard, clock, system, pack(rows))


def _by_group(added: list[tuple[pa.RecordBatch, Groups | int]]) -> Iterator[tuple[int, pa.RecordBatch]]:
    first, groups_of_first = added[0]
    if len(added) == 1 and isinstance(groups_of_first, int):
        yield groups_of_first, first
        return
    rows = pa.Table.from_batches([batch for batch, _ in added]).combine_chunks().to_batches()[0]
    groups = np.concatenate([_of_each_row(groups, batch.num_rows) for batch, groups in added])
    order, cuts = sort_by_group(groups, int(groups.max()) + 1)
    rows = rows.take(pa.array(order))
    for group, (a, b) in enumerate(pairwise(cuts.tolist())):
        if a < b:
            yield group, rows.slice(a, b - a)


def _of_each_row(groups: Groups | int, count: int) -> Groups:
    return np.full(count, groups, dtype=np.uint16) if isinstance(groups, int) else groups
