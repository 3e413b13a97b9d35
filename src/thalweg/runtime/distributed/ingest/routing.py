"""Rows of a source on their way to groups: bad ones set aside, the others spread, at least a word for every shard."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions import columns_of
from thalweg.core.lanes import to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import pack
from thalweg.runtime.distributed.exchange.message import Parcel
from thalweg.runtime.distributed.exchange.partitioning import Spread, in_groups
from thalweg.runtime.distributed.stages import EVERYWHERE, Placement

# Columns behind a source's own, in this order; tables have SIGN, streams have not. REASON says why a row is no tuple,
# TEXT what it was before anybody tried to read it: a source that cannot tell leaves them out.
TIME, SIGN, REASON, TEXT = "_time", "_sign", "_reason", "_text"

Ports = tuple[tuple[int, Placement], ...]


def spread_rows(batch: pa.RecordBatch, schema: Schema, key: Placement, layouts: Layouts) -> dict[int, pa.Buffer]:
    """The rows of each group that has some; without a key one group of each shard gets an equal share."""
    if not batch.num_rows:
        return {}
    if key is EVERYWHERE:
        return dict.fromkeys(range(layouts.groups), pack(batch))
    count = layouts.groups if key else 1
    if key is None:
        count = layouts.last.shards
        cuts = np.linspace(0, batch.num_rows, count + 1).astype(np.int64)
    elif count > 1:
        pool = StringPool()
        read = frozenset().union(*map(columns_of, key))
        nothing = np.empty(0, dtype=np.int64)
        lanes = [to_lane(batch.column(i), f.type, pool) if i in read else nothing for i, f in enumerate(schema)]
        groups = Spread(key, schema, pool, count).groups(lanes, batch.num_rows)
        order, cuts = in_groups(groups, count)
        batch = batch.take(pa.array(order))
    if count == 1:
        return {0: pack(batch)}
    return {group: pack(batch.slice(a, b - a)) for group, (a, b) in enumerate(pairwise(cuts.tolist())) if a < b}


def addressed(blobs: dict[int, pa.Buffer], like: Parcel, layouts: Layouts) -> list[Parcel]:
    """Parcels for the groups that have something, and for shards none of whose groups has."""
    shards = layouts.last.shards
    silent = set(range(shards)) - {group % shards for group in blobs}  # a shard's own number is one of its groups
    return [like._replace(group=group, blob=blobs.get(group, b"")) for group in sorted(blobs.keys() | silent)]


def without_bad_rows(
    table: pa.Table, width: int, source: str, wrong: tuple[tuple[pa.ChunkedArray, str], ...]
) -> tuple[pa.Table, list[pa.Buffer]]:
    """The rows that are tuples, and the others as a blob; what the source says against a row goes first."""
    if REASON not in table.column_names and not wrong:
        return table, []
    nothing = pa.chunked_array([pa.nulls(table.num_rows, pa.string())])
    reason = table.column(REASON) if REASON in table.column_names else nothing
    text = table.column(TEXT) if TEXT in table.column_names else nothing
    if reason.null_count == table.num_rows and not any(pc.any(mask).as_py() for mask, _ in wrong):
        return table, []
    for mask, why in wrong:
        reason = pc.coalesce(reason, pc.if_else(pc.fill_null(mask, False), why, pa.scalar(None, pa.string())))
    bad = pc.is_valid(reason)
    rows = table.select(range(width + 1)).append_column(TEXT, text).append_column(REASON, reason).filter(bad)
    return table.filter(pc.invert(bad)), [aside_blob(rows, source)]


def split(table: pa.Table, mask: pa.ChunkedArray) -> tuple[pa.Table, pa.Table]:
    """The rows for which the mask is true, and the others."""
    if not pc.any(mask).as_py():
        return table.slice(0, 0), table
    return table.filter(mask), table.filter(pc.invert(mask))


def aside_blob(rows: pa.Table, source: str) -> pa.Buffer:
    """Rows that do not go into the query, as `Aside` takes them."""
    return pack(one_batch(rows.append_column("_source", pa.array([source] * rows.num_rows))))


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """All rows side by side."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
