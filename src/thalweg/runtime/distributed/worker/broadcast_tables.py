"""Tables whose changes every shard is told: the row that a change replaces may belong to any group, or every group has
a copy of the table.

Each shard keeps the whole table, as all others do, and hands to its own groups what they gain and lose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thalweg.core.batch import Batch
from thalweg.core.strings import StringPool
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.exchange.codec import pack, to_arrow, unpack
from thalweg.runtime.distributed.exchange.message import Parcel
from thalweg.runtime.distributed.exchange.partitioning import Spread, by_group
from thalweg.runtime.distributed.ingest.side_outputs import Aside
from thalweg.runtime.distributed.ingest.updates import Updates
from thalweg.runtime.distributed.stages import EVERYWHERE
from thalweg.runtime.distributed.worker.group import Now
from thalweg.runtime.distributed.worker.query_spec import QuerySpec, Sources


class Everywhere:
    """The tables of a query that all shards know as a whole, with the strings in them."""

    def __init__(self, spec: QuerySpec, sources: Sources) -> None:
        self._spec, self._sources = spec, sources
        self._pool = StringPool()
        nodes = {port: sources.nodes[port] for port in sources.everywhere}
        self._updates = {i: Updates(node.schema, spec.keys[node.source], sources.dated) for i, node in nodes.items()}

    def __len__(self) -> int:
        return sum(map(len, self._updates.values()))

    def snapshot(self) -> Tree:
        """The tables, and changes that wait for their time."""
        updates = {str(i): updates.snapshot() for i, updates in self._updates.items()}
        return {"pool": self._pool.snapshot(), "updates": updates}

    def restore(self, tree: Tree) -> None:
        """Go on from there."""
        self._pool.restore(tree["pool"])
        for i, updates in self._updates.items():
            updates.restore(tree["updates"][str(i)])

    def parcels(self, sent: Sequence[Parcel], now: Now, mine: range, aside: Aside | None) -> Iterator[Parcel]:
        """What the groups of a shard gain and lose. Only one shard is to put aside what all of them see."""
        for port, updates in self._updates.items():
            node = self._sources.nodes[port]
            for parcel in sent:
                if parcel.port == port and len(parcel.blob):
                    updates.take(unpack(parcel.blob), node.schema, self._pool, now.before)
            changed, unmatched = updates.due(now.after) or (None, None)
            if changed is not None:
                yield from self._spread(port, changed, now, mine)
            if aside is not None and unmatched is not None and len(unmatched) and self._sources.is_first(port):
                aside.unmatched(node.source, unmatched, node.schema, self._pool)

    def _spread(self, port: int, changed: Batch, now: Now, mine: range) -> Iterator[Parcel]:
        schema, key = self._sources.nodes[port].schema, self._spec.cut.ports[port].key
        if key is EVERYWHERE:
            copy = pack(to_arrow(changed, schema, self._pool))
            yield from (Parcel(group, port, group, now.after, now.system, copy) for group in mine if len(changed))
            return
        spread = Spread(key or (), schema, self._pool, self._spec.groups)
        rows = by_group(spread.groups(changed.columns, len(changed)), self._spec.groups)
        for group in mine:
            some = changed.take(rows[group])
            if len(some):
                yield Parcel(group, port, group, now.after, now.system, pack(to_arrow(some, schema, self._pool)))
