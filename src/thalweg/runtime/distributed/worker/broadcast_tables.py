"""Tables that are broadcast: every shard has all their rows.

A table is broadcast if every group needs a copy, or if an update may replace a row of another group. Every shard
applies all updates, and gives its own groups the rows that they gain and lose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thalweg.core.batch import Batch
from thalweg.core.strings import StringPool
from thalweg.kernel.state.marking import forget_strings
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.exchange.codec import pack, to_arrow, unpack
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.exchange.partitioning import Partitioner, rows_by_group
from thalweg.runtime.distributed.ingest.clock import StepTime
from thalweg.runtime.distributed.ingest.side_outputs import SideOutputs
from thalweg.runtime.distributed.ingest.table_updates import Updates
from thalweg.runtime.distributed.stages import BROADCAST
from thalweg.runtime.distributed.worker.stage_plan import SourcePort, StagePlan


class BroadcastTables:
    """The broadcast tables of a shard, with a string pool of their own."""

    def __init__(self, stage: StagePlan) -> None:
        self._ports, self._groups = stage.sources.broadcast_tables, stage.layouts.groups
        self._pool = StringPool()
        dated = stage.fragment.dated
        self._updates = {i: Updates(port.schema, port.primary_key, dated) for i, port in self._ports.items()}

    def __len__(self) -> int:
        return sum(map(len, self._updates.values()))

    def snapshot(self) -> Tree:
        """The tables, and changes that wait for their time."""
        updates = {str(i): updates.snapshot() for i, updates in self._updates.items()}
        return {"pool": self._pool.snapshot(), "updates": updates}

    def restore(self, tree: Tree) -> None:
        """Go on from a snapshot."""
        self._pool.restore(tree["pool"])
        for i, updates in self._updates.items():
            updates.restore(tree["updates"][str(i)])

    def messages(
        self, received: Sequence[Message], time: StepTime, mine: range, side_outputs: SideOutputs | None
    ) -> Iterator[Message]:
        """The rows that the shard's groups gain and lose. Only one shard gets `side_outputs`, for all have the same."""
        forget_strings(self._pool, self._updates)
        for i, updates in self._updates.items():
            port = self._ports[i]
            for message in received:
                if message.kind is MessageKind.ROWS and message.port == i and len(message.blob):
                    updates.add_rows(unpack(message.blob), port.schema, self._pool, time.before)
            changed, unmatched = updates.due(time.after) or (None, None)
            if changed is not None:
                yield from self._to_groups(i, port, changed, time, mine)
            if side_outputs is not None and unmatched is not None and len(unmatched) and port.is_first:
                side_outputs.add_unmatched(port.source, unmatched, port.schema, self._pool)

    def _to_groups(self, i: int, port: SourcePort, changed: Batch, time: StepTime, mine: range) -> Iterator[Message]:
        like = Message(MessageKind.ROWS, 0, i, 0, time.after, time.system)
        if port.key is BROADCAST:
            blob = pack(to_arrow(changed, port.schema, self._pool))
            yield from (like._replace(group=group, part=group, blob=blob) for group in mine if len(changed))
            return
        partitioner = Partitioner(port.key or (), port.schema, self._pool, self._groups)
        rows = rows_by_group(partitioner.groups(changed.columns, len(changed)), self._groups)
        for group in mine:
            some = changed.take(rows[group])
            if len(some):
                yield like._replace(group=group, part=group, blob=pack(to_arrow(some, port.schema, self._pool)))
