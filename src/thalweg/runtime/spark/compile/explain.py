"""EXPLAIN of where a query runs: what Spark's expressions do in the JVM, what runs in Python, and by which keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql.types import StructField

from thalweg.algebra.expressions import Expression
from thalweg.algebra.plan import Plan
from thalweg.explain import choice_json, choice_text, explain_json, explain_text, plans_text
from thalweg.explain.choice import Analysis
from thalweg.kernel.pipeline.blueprint import Choice
from thalweg.kernel.pipeline.pipeline import Node, Pipeline
from thalweg.optimizer.optimize import Optimized
from thalweg.runtime.distributed.ingest.needed import selections
from thalweg.runtime.distributed.stages import BROADCAST, Cut, Placement, cut
from thalweg.runtime.spark.compile.query_frame import columns_read
from thalweg.runtime.spark.inputs import AT, OPERATION, StreamInput, TableInput
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.tasks.stateless import is_stateless

_ONCE = "read once, when the query first starts; tasks then read the checkpoint's copy"


@dataclass(frozen=True)
class StreamExplained:
    """A stream whose rows come from Spark's JVM."""

    stream: str
    jvm: list[str]  # the columns that leave the JVM, with their casts
    left_behind: list[str]
    time: str
    for_late_rows: list[str]  # columns that only late rows need
    selection: str | None  # rows for which it does not hold go no further than the task that reads them

    def lines(self) -> Iterator[str]:
        """As text."""
        left = f"; left behind: {', '.join(self.left_behind)}" if self.left_behind else ""
        columns = ", ".join(self.jvm) or "no column"
        yield f"stream {self.stream}, in the JVM: {columns}; time from {self.time}{left}"
        selection = "" if self.selection is None else f" if {self.selection}"
        kept = f"; only for late rows: {', '.join(self.for_late_rows)}" if self.for_late_rows else ""
        beside = "rows without a time or too late go to a side output"
        yield f"  in Python: {beside}, the others to their shards{selection}{kept}"


@dataclass(frozen=True)
class LoadedStreamExplained:
    """A stream of which the JVM sees only descriptions; Python tasks load the rows."""

    stream: str
    described_by: list[str]
    loaded: list[str]
    time: str
    selection: str | None

    def lines(self) -> Iterator[str]:
        """As text."""
        yield f"stream {self.stream}, in the JVM: what to read ({', '.join(self.described_by)})"
        columns = ", ".join(self.loaded) or "no column"
        selection = "" if self.selection is None else f", if {self.selection}"
        loads = f"  in Python: loads {columns} and the time from {self.time}{selection}"
        yield f"{loads}; late rows go to a side output"


@dataclass(frozen=True)
class TableExplained:
    """A table: the casts in the JVM, and when its rows are read."""

    table: str
    jvm: list[str]
    contents: str

    def lines(self) -> Iterator[str]:
        """As text."""
        yield f"table {self.table}, in the JVM: {', '.join(self.jvm)}"
        yield f"  {self.contents}"


@dataclass(frozen=True)
class PortExplained:
    """An input of a stage: where its rows come from, and by what they are partitioned."""

    of: str
    by: str


@dataclass(frozen=True)
class StageExplained:
    """A stage; with `at_once` the tasks that read rows may also answer them."""

    stage: int
    shards: int
    at_once: bool
    operators: list[str]
    inputs: list[PortExplained]

    def lines(self) -> Iterator[str]:
        """As text."""
        yield f"stage {self.stage} x {self.shards}, in Python: " + "; ".join(self.operators)
        yield from (f"  in: {port.of} by {port.by}" for port in self.inputs)
        if self.at_once:
            yield "  done by the tasks that read, if the sink takes rows from tasks, as ParquetSink does"


@dataclass(frozen=True)
class Explanation:
    """How a query runs on Spark: the chosen plan, if plans were compared, its streams, tables and stages."""

    chosen: Optimized | None
    streams: list[StreamExplained | LoadedStreamExplained]
    tables: list[TableExplained]
    stages: list[StageExplained]

    def as_json(self, plan: Plan, measured: Analysis | None) -> dict[str, Any]:
        """For programs; `measured` stands beside the estimates."""
        choice = {} if self.chosen is None else {"choice": choice_json(self.chosen, measured)}
        streams, stages = [asdict(stream) for stream in self.streams], [asdict(stage) for stage in self.stages]
        own = {"streams": streams, "tables": [asdict(table) for table in self.tables], "stages": stages}
        return {**explain_json(plan), **choice, **own}

    def as_text(self, plan: Plan, measured: Analysis | None, plans: bool) -> str:
        """For people; with `plans`, all plans that were compared."""
        found = self.chosen
        chosen = "" if found is None else "\n" + (plans_text(found) if plans else choice_text(found, measured))
        parts = (*self.streams, *self.tables, *self.stages)
        return explain_text(plan) + chosen + "\n\n" + "\n".join(line for part in parts for line in part.lines())


def explain_choice(
    choice: Choice, streams: Sequence[StreamInput], tables: Sequence[TableInput], broadcast: frozenset[str], shards: int
) -> Explanation:
    """What runs for a chosen plan that reads these streams and tables."""
    blueprint = choice.blueprint
    pipeline = blueprint.build()
    parts = cut(pipeline, broadcast)
    needed = columns_read(blueprint.plan, blueprint.lower(), parts)
    times = {stream.stream.name: stream.time for stream in streams}
    at_once = not tables and is_stateless(blueprint, parts, times)
    conditions = selections(blueprint.plan)
    return Explanation(
        choice.optimized,
        [_stream(stream, needed[stream.stream.name], conditions) for stream in streams],
        [_table(table) for table in tables],
        [_stage(number, pipeline, parts, shards, at_once) for number in range(len(parts.stages))],
    )


def _stream(
    stream: StreamInput, read: Sequence[int], conditions: Mapping[str, Expression]
) -> StreamExplained | LoadedStreamExplained:
    name, schema, time = stream.stream.name, stream.stream.schema, stream.time_column
    selection = str(conditions[name]) if name in conditions else None
    if stream.load is not None:
        return LoadedStreamExplained(name, stream.frame.columns, [schema.names[i] for i in read], time, selection)
    brought, fields = stream.brought(tuple(read)), to_spark(schema).fields
    return StreamExplained(
        name,
        jvm=[_cast(stream.frame.schema[fields[i].name], fields[i]) for i in brought],
        left_behind=[name for i, name in enumerate(schema.names) if i not in brought],
        time=time,
        for_late_rows=[schema.names[i] for i in brought if i not in read],
        selection=selection,
    )


def _table(table: TableInput) -> TableExplained:
    fields = to_spark(table.relation.schema).fields
    columns = [_cast(table.frame.schema[field.name], field) for field in fields]
    given = [column for column in (OPERATION, AT) if column in table.frame.columns]
    changes = f"changes, {' and '.join(given) or 'rows that it gains'}" if table.frame.isStreaming else _ONCE
    return TableExplained(table.relation.name, columns, changes)


def _stage(number: int, pipeline: Pipeline, parts: Cut, shards: int, at_once: bool) -> StageExplained:
    ports = [port for port in parts.ports if port.stage == number]
    inputs = [PortExplained(_origin(pipeline, port.node), _by(port.key, port.origin is None)) for port in ports]
    operators = [_name(pipeline.nodes[step.node]) for step in parts.stages[number].steps]
    return StageExplained(number, shards, at_once, operators, inputs)


def _cast(given: StructField, wanted: StructField) -> str:
    """A column, and into what it is cast if it is of another type."""
    if given.dataType == wanted.dataType:
        return wanted.name
    return f"{wanted.name} ({given.dataType.simpleString()} to {wanted.dataType.simpleString()})"


def _origin(pipeline: Pipeline, node: int) -> str:
    found = pipeline.nodes[node]
    return found.source if found.operator is None else _name(found)


def _name(node: Node) -> str:
    assert node.operator is not None
    return type(node.operator).__name__ + " of a part" * node.operator.is_partial


def _by(key: Placement, source: bool) -> str:
    if key is BROADCAST:
        return "a copy for every group"
    if key is None:
        return "equal shares" if source else "its shard"
    return ", ".join(map(str, key)) if key else "one shard"
