"""A flow as a streaming DataFrame: its streams, commands, control and time in, what answers gained out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from thalweg.algebra.codec import Functions
from thalweg.core.time import BEGINNING
from thalweg.kernel.operator import Key
from thalweg.runtime.distributed.checkpoint.flow_commands import Commands
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.message import FLOW
from thalweg.runtime.distributed.ingest.stream_reader import Reading
from thalweg.runtime.distributed.worker.flow_spec import FlowPort, FlowSpec
from thalweg.runtime.spark.api.inputs import StreamInput, TableInput
from thalweg.runtime.spark.compile.heartbeat import heartbeat
from thalweg.runtime.spark.compile.query_frame import control, held
from thalweg.runtime.spark.compile.stream_frames import Read, read_streams
from thalweg.runtime.spark.tasks.deliver import NOTES, Take
from thalweg.runtime.spark.tasks.flow_stage import ANSWERS, FlowTask
from thalweg.runtime.spark.tasks.messages import for_every_shard


@dataclass(frozen=True)
class Frames:
    """What a flow reads, and where it keeps what it knows."""

    spark: SparkSession
    checkpoint: Checkpoint
    streams: Sequence[StreamInput]
    tables: Sequence[TableInput]
    keys: Mapping[str, Key | None]  # by stream
    sees_all: bool

    def spec(self, layouts: Layouts, begin: tuple[str, ...], functions: Functions) -> FlowSpec:
        """What its tasks need to know."""
        ports = []
        for stream in self.streams:
            name, schema = stream.stream.name, stream.stream.schema
            ports.append(FlowPort(name, schema, self.keys[name]))
            ports += [FlowPort(name, schema, (), whole=True)] if self.sees_all else []
        return FlowSpec(
            tuple(ports),
            layouts,
            {stream.stream.name: stream.time for stream in self.streams},
            any(stream.stream.timestamp is not None for stream in self.streams),
            {table.relation.name: str(held(table, self.checkpoint)) for table in self.tables},
            {table.relation.name: table.relation.schema for table in self.tables},
            begin,
            functions,
        )

    def frame(self, spec: FlowSpec, commands: Commands, every: int | None, take: Take | None) -> DataFrame:
        """What all queries gain (or notes that tasks `take` it); time passes `every` so often in silent streams."""
        shards = spec.shards
        self.checkpoint.control.mkdir(parents=True, exist_ok=True)
        sent = read_streams([self._read(stream, spec) for stream in self.streams], str(self.checkpoint.folder))
        told = self.spark.readStream.schema("command string").json(str(commands.folder))
        sent.append(for_every_shard(told, FLOW, sf.lit(BEGINNING), shards, sf.col("command").cast("binary")))
        sent.append(control(self.spark, self.checkpoint, shards))
        if (beat := heartbeat(self.spark, self.checkpoint, shards, every)) is not None:
            sent.append(beat)
        parcels = reduce(DataFrame.union, sent).repartitionById(shards, sf.col("group") % shards)
        task = FlowTask(spec, str(self.checkpoint.folder), take).task()
        return parcels.mapInArrow(task, ANSWERS if take is None else NOTES)

    def _read(self, stream: StreamInput, spec: FlowSpec) -> Read:
        name, schema = stream.stream.name, stream.stream.schema
        ports = tuple((i, port.key) for i, port in enumerate(spec.ports) if port.source == name)
        reading = Reading(name, schema, ports, spec.layouts, stream.stream.timestamp is not None, stream.ahead)
        return Read(stream, tuple(range(len(schema))), reading)
