"""Rows of a source become messages: rows that are no tuples go to a side output, the others to their groups."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions import Column, Expression, columns_of
from thalweg.core.lanes import to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import pack
from thalweg.runtime.distributed.exchange.message import Message
from thalweg.runtime.distributed.exchange.partitioning import (
    Groups,
    Partitioner,
    groups_of_columns,
    sort_by_group,
)
from thalweg.runtime.distributed.ingest.side_outputs import pack_side_output
from thalweg.runtime.distributed.stages import BROADCAST, Placement

# Columns behind a source's own, in this order; tables have SIGN, streams have not. REASON says why a row is no tuple,
# TEXT is the row before it was parsed; sources that do not know them leave them out.
TIME, SIGN, REASON, TEXT = "_time", "_sign", "_reason", "_text"

Ports = tuple[tuple[int, Placement], ...]  # the ports of a source: their numbers and the keys they are partitioned by
Objections = tuple[tuple[pa.ChunkedArray, str], ...]  # where rows are no tuples, and why


def send_rows(
    batch: pa.RecordBatch, schema: Schema, key: Placement, layouts: Layouts, like: Message, to_shards: bool = False
) -> list[Message]:
    """Messages with a source's rows, `like` a given one.

    Each group gets the rows of its keys; without a key, one group of each shard gets an equal share. BROADCAST rows go
    to all groups, and rows that are sent `to_shards` to all shards. A shard that gets no rows gets an empty message, so
    that every shard learns the clock of the part.
    """
    shards = layouts.last.shards
    if to_shards or key is BROADCAST:
        blob = pack(batch) if to_shards or batch.num_rows else b""
        return [like._replace(group=group, blob=blob) for group in range(shards if to_shards else layouts.groups)]
    cuts = np.array([0, batch.num_rows])
    if key is None:
        cuts = np.linspace(0, batch.num_rows, shards + 1).astype(np.int64)
    elif key and layouts.groups > 1 and batch.num_rows:
        groups = _groups(batch, schema, key, layouts.groups)
        order, cuts = sort_by_group(groups, layouts.groups)
        batch = batch.take(pa.array(order))
    sent = [(group, a, b) for group, (a, b) in enumerate(pairwise(cuts.tolist())) if a < b]
    silent = set(range(shards)) - {group % shards for group, _, _ in sent}  # a shard's number is one of its groups
    messages = [like._replace(group=group, blob=pack(batch.slice(a, b - a))) for group, a, b in sent]
    return messages + [like._replace(group=shard) for shard in sorted(silent)]


def _groups(batch: pa.RecordBatch, schema: Schema, key: Sequence[Expression], groups: int) -> Groups:
    if all(isinstance(part, Column) for part in key):
        columns = [batch.column(part.index) for part in key if isinstance(part, Column)]
        return groups_of_columns(columns, [part.type for part in key], groups)
    pool = StringPool()
    read = frozenset().union(*map(columns_of, key))
    nothing = np.empty(0, dtype=np.int64)
    lanes = [to_lane(batch.column(i), f.type, pool) if i in read else nothing for i, f in enumerate(schema)]
    return Partitioner(key, schema, pool, groups).groups(lanes, batch.num_rows)


def split_bad_rows(table: pa.Table, width: int, source: str, wrong: Objections) -> tuple[pa.Table, list[pa.Buffer]]:
    """The rows that are tuples, and the others packed for the side output. The source's own reason counts first."""
    nothing = pa.chunked_array([pa.nulls(table.num_rows, pa.string())])
    reason = table.column(REASON) if REASON in table.column_names else nothing
    text = table.column(TEXT) if TEXT in table.column_names else nothing
    if reason.null_count == table.num_rows and not any(pc.any(mask).as_py() for mask, _ in wrong):
        return table, []
    for mask, why in wrong:
        reason = pc.coalesce(reason, pc.if_else(pc.fill_null(mask, False), why, pa.scalar(None, pa.string())))
    bad = pc.is_valid(reason)
    rows = table.select(range(width + 1)).append_column(TEXT, text).append_column(REASON, reason).filter(bad)
    return table.filter(pc.invert(bad)), [pack_side_output(rows, source)]


def split(table: pa.Table, mask: pa.ChunkedArray) -> tuple[pa.Table, pa.Table]:
    """The rows for which the mask is true, and the others."""
    if not pc.any(mask).as_py():
        return table.slice(0, 0), table
    return table.filter(mask), table.filter(pc.invert(mask))
