"""A flow as a streaming DataFrame: streams, commands and time in, changes of answers out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from thalweg.algebra.codec import Functions
from thalweg.core.time import BEGINNING
from thalweg.kernel.operator import Key
from thalweg.runtime.distributed.checkpoint.flow_commands import Commands
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.message import MessageKind
from thalweg.runtime.distributed.ingest.stream_reader import StreamReader
from thalweg.runtime.distributed.worker.flow_program import flow_run_spec
from thalweg.runtime.distributed.worker.stage_plan import FlowPlan, FlowPort
from thalweg.runtime.spark.compile.clock_frames import LINE, clock_frames, for_every_shard, lines_of
from thalweg.runtime.spark.compile.stage_frames import Compiled, compile_stages, table_file
from thalweg.runtime.spark.compile.stream_frames import StreamPlan, stream_frames
from thalweg.runtime.spark.inputs import StreamInput, TableInput
from thalweg.runtime.spark.tasks.deliver import Take
from thalweg.runtime.spark.tasks.flow_answers import FlowAnswers


@dataclass(frozen=True)
class Frames:
    """Compiles a flow: its inputs, and its checkpoint."""

    spark: SparkSession
    checkpoint: Checkpoint
    streams: Sequence[StreamInput]
    tables: Sequence[TableInput]
    keys: Mapping[str, Key | None]  # by stream
    sees_all: bool

    def plan(self, layouts: Layouts, begin: tuple[str, ...], functions: Functions) -> FlowPlan:
        """The flow as it is to run."""
        ports = []
        for stream in self.streams:
            name, schema = stream.stream.name, stream.stream.schema
            ports.append(FlowPort(name, schema, self.keys[name]))
            ports += [FlowPort(name, schema, (), all_tuples=True)] if self.sees_all else []
        return FlowPlan(
            tuple(ports),
            layouts,
            {stream.stream.name: stream.time for stream in self.streams},
            any(stream.stream.timestamp is not None for stream in self.streams),
            {table.relation.name: str(table_file(table, self.checkpoint)) for table in self.tables},
            {table.relation.name: table.relation.schema for table in self.tables},
            begin,
            functions,
        )

    def compile(self, plan: FlowPlan, commands: Commands, every: int | None, take: Take | None, fence: int) -> Compiled:
        """Compile the flow; with `take` the DataFrame has notes. There are `every` microseconds between heartbeats.

        `fence` is that of the driver's lease.
        """
        spec, folder = flow_run_spec(plan), str(self.checkpoint.folder)
        sent = stream_frames([self._stream_plan(stream, plan) for stream in self.streams], folder)
        lines = lines_of(self.spark, commands.folder)
        sent.append(for_every_shard(lines, spec.shards, MessageKind.FLOW_COMMAND, sf.lit(BEGINNING), sf.col(LINE)))
        sent += clock_frames(self.spark, self.checkpoint, spec.shards, every)
        return compile_stages(sent, spec, self.checkpoint, FlowAnswers(), take, fence)

    def _stream_plan(self, stream: StreamInput, plan: FlowPlan) -> StreamPlan:
        name, schema = stream.stream.name, stream.stream.schema
        ports = tuple((i, port.key) for i, port in enumerate(plan.ports) if port.source == name)
        reader = StreamReader(name, schema, ports, plan.layouts, stream.stream.timestamp is not None, stream.ahead)
        return StreamPlan(stream, tuple(range(len(schema))), reader)
