"""All stages and shards of a query in this process: what a cluster does, without one.

Batches cross every exchange as bytes, each shard has strings and state of its
own, and only the transport is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.runtime.distributed.exchange.codec import from_arrow, pack, to_arrow, unpack
from thalweg.runtime.distributed.exchange.partitioning import Partitioner, rows_by_group
from thalweg.runtime.distributed.stages import BROADCAST, cut
from thalweg.runtime.distributed.worker.fragment import Fragment, FragmentPlan, Outputs


@dataclass(frozen=True)
class _Sent:
    port: int
    shard: int
    blob: pa.Buffer


class SimulatedShards:
    """Behaves like the pipeline that it is cut from."""

    def __init__(self, blueprint: Blueprint, shards: int, copied: Collection[str] = ()) -> None:
        self._pipeline: Pipeline = blueprint.build()
        self.pool: StringPool = self._pipeline.pool
        self.schema = self._pipeline.schema
        self._template, self._shards = blueprint.lower(), shards
        self.cut = cut(self._pipeline, copied)
        self._stages = [self._fragments(stage) for stage in range(max(1, len(self.cut.stages)))]

    def _fragments(self, stage: int) -> list[Fragment]:
        plan = FragmentPlan.of(self._template, self.cut, stage)
        return [Fragment(plan, shard) for shard in range(self._shards)]

    def restart(self) -> None:
        """All shards lose their memory, and go on from their snapshots."""
        for stage, fragments in enumerate(self._stages):
            trees = [fragment.pipeline.snapshot() for fragment in fragments]
            self._stages[stage] = self._fragments(stage)
            for fragment, tree in zip(self._stages[stage], trees, strict=True):
                fragment.pipeline.restore(tree)

    def begin(self, before: Instant) -> Batch:
        """The answer over nothing."""
        return self._run({}, before, beginning=True)

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> Batch:
        """One batch through all stages."""
        return self._run(feeds, now, beginning=False)

    def _run(self, feeds: Mapping[str, Batch], now: Instant, beginning: bool) -> Batch:
        sent = self._enter(feeds)
        answers: list[Batch] = []
        for fragments in self._stages:
            for shard, fragment in enumerate(fragments):
                given = [s for s in sent if s.shard == shard and s.port in fragment.plan.inputs]
                inputs = {port: self._received(fragment, port, given) for port in fragment.plan.inputs}
                outputs = fragment.begin(inputs, now) if beginning else fragment.process(inputs, now)
                sent += self._leave(fragment, shard, outputs)
                if outputs.answer is not None:
                    arrow = to_arrow(outputs.answer, self.schema, fragment.pool)
                    answers.append(from_arrow(arrow, self.schema, self.pool))
        return Batch.concat(answers)

    def _received(self, fragment: Fragment, port: int, sent: list[_Sent]) -> Batch:
        schema = fragment.plan.inputs[port]
        batches = [from_arrow(unpack(s.blob), schema, fragment.pool) for s in sent if s.port == port]
        return Batch.concat(batches) if batches else Batch.empty(schema, fragment.plan.dated)

    def _enter(self, feeds: Mapping[str, Batch]) -> list[_Sent]:
        sent = []
        for i, port in enumerate(self.cut.ports):
            node = self._pipeline.nodes[port.node]
            if port.origin is None and node.source in feeds:
                sent += self._spread(i, feeds[node.source], self.pool, 0)
        return sent

    def _leave(self, fragment: Fragment, shard: int, outputs: Outputs) -> list[_Sent]:
        return [s for i, batch in outputs.ports.items() for s in self._spread(i, batch, fragment.pool, shard)]

    def _spread(self, port: int, batch: Batch, pool: StringPool, shard: int) -> list[_Sent]:
        """A batch on its way through a port; without a key it stays in its shard, or, from outside, goes anywhere."""
        key, schema = self.cut.ports[port].key, self._pipeline.nodes[self.cut.ports[port].node].schema
        if key is None and self.cut.ports[port].origin is not None:
            return [_Sent(port, shard, pack(to_arrow(batch, schema, pool)))]
        if key is BROADCAST:
            rows: list[Ints | slice] = [slice(None)] * self._shards
        elif key is None:
            rows = rows_by_group((batch.start % self._shards).astype("uint16"), self._shards)
        else:
            rows = rows_by_group(
                Partitioner(key, schema, pool, self._shards).groups(batch.columns, len(batch)), self._shards
            )
        return [_Sent(port, to, pack(to_arrow(batch.take(some), schema, pool))) for to, some in enumerate(rows)]
