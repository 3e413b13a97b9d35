"""A group of keys in one stage of a query: the stage's operators, and in the first stage tuples that wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from thalweg.core.batch import Batch
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.exchange.codec import from_arrow, stream_lanes, to_arrow, unpack
from thalweg.runtime.distributed.exchange.message import Answered, Message, MessageKind
from thalweg.runtime.distributed.exchange.outgoing import OutgoingRows
from thalweg.runtime.distributed.exchange.partitioning import Partitioner
from thalweg.runtime.distributed.ingest.arrivals import Arrivals
from thalweg.runtime.distributed.ingest.clock import StepTime
from thalweg.runtime.distributed.ingest.side_outputs import SideOutputs
from thalweg.runtime.distributed.ingest.table_updates import Updates
from thalweg.runtime.distributed.stages import BROADCAST
from thalweg.runtime.distributed.worker.fragment import Fragment, Outputs
from thalweg.runtime.distributed.worker.program import AnswerPart
from thalweg.runtime.distributed.worker.stage_plan import SourcePort, StagePlan


class QueryGroup:
    """A `Group` of a query."""

    def __init__(self, stage: StagePlan, number: int) -> None:
        self._stage, self._number = stage, number
        self._fragment = Fragment(stage.fragment, number)
        self._pool = self._fragment.pool
        dated = stage.fragment.dated
        self._arrivals = {i: Arrivals(dated) for i in stage.sources.streams}
        self._updates = {i: Updates(p.schema, p.primary_key, dated) for i, p in stage.sources.tables.items()}
        self._partitioners: dict[int, Partitioner] = {}
        self._has_begun = False
        self.arrived = 0

    # -- state

    def snapshot(self) -> Tree:
        """See `Group`."""
        return {
            "arrivals": {str(i): arrivals.snapshot() for i, arrivals in self._arrivals.items()},
            "updates": {str(i): updates.snapshot() for i, updates in self._updates.items()},
            "pipeline": self._fragment.pipeline.snapshot(),
        }

    def restore(self, tree: Tree) -> None:
        """See `Group`."""
        self._has_begun = True
        self._fragment.pipeline.restore(tree["pipeline"])
        for i, arrivals in self._arrivals.items():
            arrivals.restore(tree["arrivals"][str(i)])
        for i, updates in self._updates.items():
            updates.restore(tree["updates"][str(i)])

    @property
    def waiting(self) -> int:
        """See `Group`."""
        return sum(map(len, self._arrivals.values())) + sum(map(len, self._updates.values()))

    @property
    def stored(self) -> int:
        """See `Group`."""
        return self._fragment.pipeline.stored

    @property
    def counted(self) -> list[OperatorMetrics]:
        """The metrics of its operators; operators that do the same in every group count in group 0."""
        metrics = self._fragment.pipeline.metrics
        if self._number == 0:
            return metrics
        same = zip(metrics, self._stage.fragment.same_in_all_groups, strict=True)
        return [OperatorMetrics(one.operator) if is_same else one for one, is_same in same]

    # -- work

    def run(
        self, messages: Sequence[Message], time: StepTime, outgoing: OutgoingRows, side_outputs: SideOutputs
    ) -> Iterator[AnswerPart]:
        """See `Group`."""
        self.arrived = 0
        self._fragment.pipeline.forget_strings(self._arrivals, self._updates)
        due = self._due(messages, time, side_outputs)
        feeds = {port: due[port] if port in due else self._sent(messages, port) for port in self._fragment.plan.inputs}
        process = self._fragment.process if self._has_begun else self._process_first
        outputs = process(feeds, time.after)
        self._credit(messages)
        for port, batch in due.items():
            if port not in feeds and len(batch):  # for a later stage, in the same group
                outgoing.add(port, to_arrow(batch, self._stage.sources.all[port].schema, self._pool), self._number)
        self._send(outputs, outgoing)
        if outputs.answer is not None and len(outputs.answer):
            yield AnswerPart(outputs.answer, self._stage.answer_schema, self._pool)

    def _process_first(self, feeds: dict[int, Batch], now: Instant) -> Outputs:
        """The first batch also gives the answer over nothing."""
        self._has_begun = True
        begun = self._fragment.begin(*_beginning(feeds))
        outputs = self._fragment.process(feeds, now)
        ports = {i: Batch.concat([begun.ports[i], batch]) for i, batch in outputs.ports.items()}
        answer = outputs.answer
        if answer is not None and begun.answer is not None:
            answer = Batch.concat([begun.answer, answer])
        return Outputs(ports, answer)

    def _credit(self, messages: Sequence[Message]) -> None:
        """Count the rows that reading tasks have answered as if they had come here."""
        for message in messages:
            if message.kind is MessageKind.ANSWERED:
                answered = Answered.unpacked(message.blob)
                self.arrived += answered.arrived
                for metrics, counts in zip(self._fragment.pipeline.metrics, answered.operators, strict=True):
                    metrics.add(counts)

    # -- inputs

    def _due(self, messages: Sequence[Message], time: StepTime, side_outputs: SideOutputs) -> dict[int, Batch]:
        """By port of a source: the tuples whose time has come, for this stage or a later one."""
        due: dict[int, Batch] = {}
        for i, arrivals in self._arrivals.items():
            port = self._stage.sources.streams[i]
            for table in _tables(messages, i):
                lanes = stream_lanes(table, port.columns, port.schema, self._pool)
                late = arrivals.add(lanes, table.column(table.num_columns - 1).to_numpy(), time.before)
                self.arrived += table.num_rows * port.is_first
                if late is not None and port.is_first:
                    side_outputs.add_late(port.source, late, port.schema, self._pool)
            due[i] = arrivals.due(time.after) or self._nothing(port)
        for i, updates in self._updates.items():
            port = self._stage.sources.tables[i]
            for table in _tables(messages, i):
                updates.add_rows(table, port.schema, self._pool, time.before)
            due[i], unmatched = updates.due(time.after) or (self._nothing(port), self._nothing(port))
            if len(unmatched) and port.is_first:
                side_outputs.add_unmatched(port.source, unmatched, port.schema, self._pool)
        return due

    def _nothing(self, port: SourcePort) -> Batch:
        return Batch.empty(port.schema, self._stage.fragment.dated)

    def _sent(self, messages: Sequence[Message], port: int) -> Batch:
        """Rows that an earlier stage has sent, or the shard itself."""
        schema = self._stage.fragment.inputs[port]
        batches = [from_arrow(table, schema, self._pool) for table in _tables(messages, port)]
        if len(batches) == 1:  # copied, because the file that it is mapped from is soon removed
            return batches[0].copy()
        return Batch.concat(batches) if batches else Batch.empty(schema, self._stage.fragment.dated)

    # -- outputs

    def _send(self, outputs: Outputs, outgoing: OutgoingRows) -> None:
        for i, batch in outputs.ports.items():
            if not len(batch):
                continue
            port = self._stage.fragment.outputs[i]
            rows = to_arrow(batch, port.schema, self._pool)
            if port.key is BROADCAST:
                for group in range(self._stage.layouts.groups):
                    outgoing.add(i, rows, group)
            elif not port.key:
                outgoing.add(i, rows, self._number if port.key is None else 0)
            else:
                if i not in self._partitioners:
                    groups = self._stage.layouts.groups
                    self._partitioners[i] = Partitioner(port.key, port.schema, self._pool, groups)
                outgoing.add(i, rows, self._partitioners[i].groups(batch.columns, len(batch)))


def _tables(messages: Sequence[Message], port: int) -> Iterator[pa.RecordBatch]:
    return (unpack(m.blob) for m in messages if m.kind is MessageKind.ROWS and m.port == port)


def _beginning(feeds: dict[int, Batch]) -> tuple[dict[int, Batch], Instant]:
    """Take tuples that start before BEGINNING out of the feeds."""
    before: dict[int, Batch] = {}
    for port, batch in feeds.items():
        first = batch.start < BEGINNING
        before[port] = batch.take(first)
        feeds[port] = batch.take(~first)
    return before, BEGINNING - 1
