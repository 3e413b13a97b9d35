"""EXPLAIN of where a query runs: what Spark's expressions do in the JVM, what runs in Python, and by which keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql.types import StructField

from thalweg.algebra.expressions import Expression
from thalweg.algebra.plan import Plan
from thalweg.kernel.pipeline.pipeline import Node, Pipeline
from thalweg.runtime.distributed.ingest.needed import selections
from thalweg.runtime.distributed.stages import BROADCAST, Cut, Placement
from thalweg.runtime.spark.api.inputs import AT, OPERATION, StreamInput, TableInput
from thalweg.runtime.spark.schema import to_spark

_ONCE = "read once, when the query first starts; tasks then read the checkpoint's copy"


def explain_streams(
    streams: Sequence[StreamInput], plan: Plan, needed: Mapping[str, tuple[int, ...]]
) -> list[dict[str, Any]]:
    """By stream: the columns that leave the JVM, with their casts, those left behind, and what Python drops at once."""
    found, conditions = [], selections(plan)
    for stream in streams:
        schema, read = stream.stream.schema, needed[stream.stream.name]
        if stream.load is not None:
            found.append(_loaded(stream, read, conditions))
            continue
        brought, fields = stream.brought(read), to_spark(stream.stream.schema).fields
        found.append(
            {
                "stream": stream.stream.name,
                "jvm": [_cast(stream.frame.schema[fields[i].name], fields[i]) for i in brought],
                "left_behind": [name for i, name in enumerate(schema.names) if i not in brought],
                "time": stream.time_column,
                "for_late_rows": [schema.names[i] for i in brought if i not in read],
                "selection": str(conditions[stream.stream.name]) if stream.stream.name in conditions else None,
            }
        )
    return found


def _loaded(stream: StreamInput, read: Sequence[int], conditions: Mapping[str, Expression]) -> dict[str, Any]:
    """A stream of which the JVM sees only what to read."""
    name = stream.stream.name
    return {
        "stream": name,
        "described_by": stream.frame.columns,
        "loaded": [stream.stream.schema.names[i] for i in read],
        "time": stream.time_column,
        "selection": str(conditions[name]) if name in conditions else None,
    }


def explain_tables(tables: Sequence[TableInput]) -> list[dict[str, Any]]:
    """By table: the casts in the JVM, and where changes come from, if there are any."""
    found = []
    for table in tables:
        fields = to_spark(table.relation.schema).fields
        columns = [_cast(table.frame.schema[field.name], field) for field in fields]
        given = [column for column in (OPERATION, AT) if column in table.frame.columns]
        changes = f"changes, {' and '.join(given) or 'rows that it gains'}" if table.frame.isStreaming else _ONCE
        found.append({"table": table.relation.name, "jvm": columns, "contents": changes})
    return found


def explain_stages(pipeline: Pipeline, cut: Cut, shards: int, at_once: bool = False) -> list[dict[str, Any]]:
    """One entry per stage, in order; `stateless`: rows may be answered in the tasks that read them."""
    stages = []
    for number, stage in enumerate(cut.stages):
        ports = [port for port in cut.ports if port.stage == number]
        stages.append(
            {
                "stage": number,
                "shards": shards,
                "at_once": at_once,
                "operators": [_name(pipeline.nodes[step.node]) for step in stage.steps],
                "inputs": [
                    {"of": _origin(pipeline, port.node), "by": _by(port.key, port.origin is None)} for port in ports
                ],
            }
        )
    return stages


def as_lines(streams: list[dict[str, Any]], tables: list[dict[str, Any]], stages: list[dict[str, Any]]) -> list[str]:
    """The same as text."""
    lines = [line for stream in streams for line in _stream_lines(stream)]
    for table in tables:
        lines += [f"table {table['table']}, in the JVM: {', '.join(table['jvm'])}", f"  {table['contents']}"]
    for stage in stages:
        lines.append(f"stage {stage['stage']} x {stage['shards']}, in Python: " + "; ".join(stage["operators"]))
        lines += [f"  in: {port['of']} by {port['by']}" for port in stage["inputs"]]
        if stage["at_once"]:
            lines.append("  done by the tasks that read, if the sink takes rows from tasks, as ParquetSink does")
    return lines


def _stream_lines(stream: dict[str, Any]) -> Iterator[str]:
    if "loaded" in stream:
        yield f"stream {stream['stream']}, in the JVM: what to read ({', '.join(stream['described_by'])})"
        columns = ", ".join(stream["loaded"]) or "no column"
        selection = "" if stream["selection"] is None else f", if {stream['selection']}"
        loads = f"  in Python: loads {columns} and the time from {stream['time']}{selection}"
        yield f"{loads}; late rows go to a side output"
        return
    left = f"; left behind: {', '.join(stream['left_behind'])}" if stream["left_behind"] else ""
    columns = ", ".join(stream["jvm"]) or "no column"
    yield f"stream {stream['stream']}, in the JVM: {columns}; time from {stream['time']}{left}"
    selection = "" if stream["selection"] is None else f" if {stream['selection']}"
    kept = f"; only for late rows: {', '.join(stream['for_late_rows'])}" if stream["for_late_rows"] else ""
    beside = "rows without a time or too late go to a side output"
    yield f"  in Python: {beside}, the others to their shards{selection}{kept}"


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
