"""What the groups of a shard have for later stages, packed together: one parcel for each group that it goes to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.core.time import Instant
from thalweg.runtime.distributed.exchange.codec import pack
from thalweg.runtime.distributed.exchange.message import Parcel
from thalweg.runtime.distributed.exchange.partitioning import in_groups

Groups = npt.NDArray[np.uint16]


class Outbox:
    """Rows by port, each with the group that it belongs to."""

    def __init__(self) -> None:
        self._rows: defaultdict[int, list[tuple[pa.RecordBatch, Groups | int]]] = defaultdict(list)

    def put(self, port: int, rows: pa.RecordBatch, to: Groups | int) -> None:
        """More rows for a port: the group of each, or of all."""
        self._rows[port].append((rows, to))

    def parcels(self, shard: int, clock: Instant, system: int) -> Iterator[Parcel]:
        """All of them, in the order in which they were put."""
        for port, put in self._rows.items():
            if len(put) == 1 and isinstance(put[0][1], int):
                yield Parcel(put[0][1], port, shard, clock, system, pack(put[0][0]))
                continue
            rows = pa.Table.from_batches([batch for batch, _ in put]).combine_chunks().to_batches()[0]
            groups = np.concatenate([_each(to, batch.num_rows) for batch, to in put])
            order, cuts = in_groups(groups, int(groups.max()) + 1)
            rows = rows.take(pa.array(order))
            for group, (a, b) in enumerate(pairwise(cuts.tolist())):
                if a < b:
                    yield Parcel(group, port, shard, clock, system, pack(rows.slice(a, b - a)))


def _each(to: Groups | int, count: int) -> Groups:
    return np.full(count, to, dtype=np.uint16) if isinstance(to, int) else to
