"""A flow for the campaign: queries over drawn rows, of which one comes and one goes while it runs."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from faults.drawn import (
    BATCHES,
    STREAMS,
    Emitted,
    Input,
    catalog,
    commands_of_time,
    compare,
    net,
    to_table,
)
from thalweg.algebra.expressions import column
from thalweg.core.time import BEGINNING
from thalweg.cql import compile_query
from thalweg.runtime.distributed.checkpoint.flow_desk import FlowDefinition, FlowDesk
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import to_arrow
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.stream_reader import StreamReader
from thalweg.runtime.distributed.worker.flow_program import flow_run_spec
from thalweg.runtime.distributed.worker.program import RunSpec, StepResult
from thalweg.runtime.distributed.worker.stage_plan import FlowPlan, FlowPort

FLOW = "flow"
FIRST = {
    "joined": "SELECT s.k, s.v, u.v AS w FROM s [RANGE 5] JOIN u [RANGE 4] ON s.k = u.k WHERE s.v >= 2",
    "counted": "SELECT k, COUNT(*) AS n, MAX(v) AS high FROM s [RANGE 6] GROUP BY k",
    "whole": "SELECT COUNT(*) AS n FROM u [RANGE 5]",
    "gone": "SELECT k FROM u [RANGE 3]",
}
ADDED, ADDED_IN, DROPPED, DROPPED_IN = "SELECT DISTINCT k FROM s [RANGE 4]", 2, "gone", 3


@cache
def _commands() -> tuple[dict[str, str], tuple[str, ...], str, str]:
    """The ids of the first queries by name, the commands that add them, and those that come later."""
    keys = {name: (column(schema, 0),) for name, schema in STREAMS.items()}
    with TemporaryDirectory() as folder:
        FlowDesk(Path(folder), FlowDefinition("drawn", catalog(), keys, [], sees_all=True)).open()
        desk = FlowDesk.at(folder)
        first = desk.add_all(list(FIRST.values()), list(FIRST))
        (added,) = desk.add_all([ADDED], ["added"])
        dropped = desk.drop(DROPPED)
    ids = {command.name: command.id for command in first}
    return ids, tuple(command.line() for command in first), added.line(), dropped.line()


class FlowCase:
    """A flow over drawn rows. Time goes on by commands, so that no row of a batch waits."""

    stages = 1

    def __init__(self, number: int) -> None:
        self._input = Input(f"{FLOW}-{number}", tuple(STREAMS))
        self._ids, self._first, self._added, self._dropped = _commands()
        self._ports: list[FlowPort] = []
        for name, schema in STREAMS.items():
            key = (column(schema, 0),)
            self._ports += [FlowPort(name, schema, key), FlowPort(name, schema, (), all_tuples=True)]

    @property
    def late(self) -> dict[str, Counter[tuple[object, ...]]]:
        return self._input.late

    def run_spec(self, layouts: Layouts) -> RunSpec:
        inputs = {name: InputTime() for name in STREAMS}
        return flow_run_spec(FlowPlan(tuple(self._ports), layouts, inputs, False, first_commands=self._first))

    def messages(self, batch: int, layouts: Layouts, system: int) -> list[Message]:
        found: list[Message] = []
        for name, rows in self._input.batches[batch].items():
            ports = tuple((i, port.key) for i, port in enumerate(self._ports) if port.source == name)
            half = (len(rows) + 1) // 2
            for part, some in enumerate((rows[:half], rows[half:])):
                reader = StreamReader(name, STREAMS[name], ports, layouts, False)
                found += reader.messages(to_table(STREAMS[name], some, True), part, system)
        for line, when in ((self._added, ADDED_IN), (self._dropped, DROPPED_IN)):
            if batch == when:
                shards = range(layouts.last.shards)
                found += [
                    Message(MessageKind.FLOW_COMMAND, shard, 0, 0, BEGINNING, system, line.encode()) for shard in shards
                ]
        return found + commands_of_time(batch, layouts, system)

    def emitted(self, results: list[StepResult]) -> Emitted:
        found: Emitted = Counter()
        for part in (part for result in results for part in result.parts):
            assert part.owners is not None
            for place, query in enumerate(part.queries):
                mine = to_arrow(part.batch.take(part.owners == place), part.schema, part.pool)
                for row, n in net([mine], len(part.schema)).items():
                    found[query, *row] += n
        return Counter({row: n for row, n in found.items() if n})

    def check(self, written: list[Emitted]) -> None:
        """Of the queries that are there from the first batch to the last."""
        assert len(written) == BATCHES
        for name in set(FIRST) - {DROPPED}:
            mine = [
                Counter({row[1:]: n for row, n in emitted.items() if row[0] == self._ids[name]}) for emitted in written
            ]
            compare(compile_query(FIRST[name], catalog()), self._input.history, mine)


@cache
def flow_case(number: int) -> FlowCase:
    return FlowCase(number)
