"""Would catch queries of a flow that are split where they must not be, or see too much, too little or anything twice.

Random plans come and go; every shard starts from a snapshot in every batch, and runs every step twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pickle import dumps, loads

import pyarrow as pa
from hypothesis import given, note
from hypothesis import strategies as st

from kernel.test_against_reference import AFTERWARDS, allowed
from reference.oracle.tables import close
from runtime.distributed.cluster import arrow_columns
from strategies.aggregates import USER_AGGREGATES
from strategies.catalog import S, T, U
from strategies.effort import examples
from strategies.histories import histories
from strategies.plans import plans
from thalweg.algebra.catalog import Catalog
from thalweg.algebra.codec import Functions
from thalweg.algebra.expressions import UserFunction, column
from thalweg.core.rows import Row
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.flows.command import DROP, Command
from thalweg.flows.standing import Standing
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import from_arrow, to_arrow
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.stream_reader import StreamReader
from thalweg.runtime.distributed.stages import needs_all_tuples
from thalweg.runtime.distributed.worker.flow_program import FlowProgram
from thalweg.runtime.distributed.worker.program import AnswerPart
from thalweg.runtime.distributed.worker.stage_plan import FlowPlan, FlowPort
from thalweg.runtime.local.outputs import OutputLog

STREAMS = (S, T, U)
Arrived = tuple[Instant, Row]
CATALOG = Catalog({stream.name: stream for stream in STREAMS})
KEYS = {stream.name: (column(stream.schema, 0),) for stream in STREAMS}


class Shards:
    """A flow over the three streams, each spread by its first column."""

    def __init__(self, shards: int, functions: Sequence[UserFunction] = ()) -> None:
        ports = []
        for stream in STREAMS:
            ports += [FlowPort(stream.name, stream.schema, KEYS[stream.name])]
            ports += [FlowPort(stream.name, stream.schema, (), all_tuples=True)]
        layouts = Layouts(shards, ()).changed(0, shards)
        inputs, known = {s.name: InputTime() for s in STREAMS}, Functions.of([*USER_AGGREGATES, *functions])
        self.spec = FlowPlan(tuple(ports), layouts, inputs, stamped=False, functions=known)
        self._states: list[bytes | None] = [None] * shards
        self.logs: dict[str, OutputLog] = {}

    def batch(self, arrived: dict[str, list[Arrived]], now: Instant, *commands: Command) -> None:
        messages = [message for stream in STREAMS for message in self._read(stream.name, arrived.get(stream.name, []))]
        for shard in range(self.spec.layouts.last.shards):
            messages.append(Message(MessageKind.ADVANCE, shard, 0, 0, now, 0))
            lines = [command.line().encode() for command in commands]
            messages += [Message(MessageKind.FLOW_COMMAND, shard, 0, 0, BEGINNING, 0, line) for line in lines]
        for shard in range(self.spec.layouts.last.shards):
            mine = [message for message in messages if message.group % self.spec.layouts.last.shards == shard]
            self._step(shard, mine[::-1])
            for part in self._step(shard, mine, keeps=True):
                self._log(part)

    def _read(self, name: str, rows: list[Arrived]) -> list[Message]:
        stream = next(s for s in STREAMS if s.name == name)
        ports = tuple((i, port.key) for i, port in enumerate(self.spec.ports) if port.source == name)
        arrays = [*arrow_columns(stream.schema, [row for _, row in rows]), pa.array([t for t, _ in rows], pa.int64())]
        table = pa.table(arrays, names=[str(i) for i in range(len(arrays))])
        return StreamReader(name, stream.schema, ports, self.spec.layouts, stamped=False).messages(table, 0, 0)

    def _step(self, shard: int, messages: list[Message], keeps: bool = False) -> list[AnswerPart]:
        program, state = FlowProgram(self.spec, shard), self._states[shard]
        if state is not None:
            program.restore(loads(state))
        _, parts = program.run(messages)
        if keeps:
            self._states[shard] = dumps(program.snapshot())
        return parts

    def _log(self, part: AnswerPart) -> None:
        assert part.owners is not None
        for number, query in enumerate(part.queries):
            log = self.logs.setdefault(query, OutputLog(part.schema, StringPool()))
            mine = part.batch.take(part.owners == number)
            log.add(from_arrow(to_arrow(mine, part.schema, part.pool), part.schema, log.pool))


def later(history: History, since: Instant) -> History:
    """What came after an instant."""
    found = History()
    for stream in STREAMS:
        for arrival in history.stream(stream.name):
            if arrival.ts > since:
                found.arrive(stream.name, arrival.ts, arrival.row)
    return found


@examples(15)
@given(data=st.data())
def test_each_query_of_a_flow_gives_the_references_answer(data: st.DataObject) -> None:
    asked = data.draw(st.lists(plans(of=CATALOG).filter(allowed), min_size=1, max_size=4), label="plans")
    history = data.draw(histories(CATALOG), label="history")
    run = Shards(data.draw(st.sampled_from([1, 2, 5]), label="shards"))
    events = sorted(
        ((a.ts, s.name, a.row) for s in STREAMS for a in history.stream(s.name)), key=lambda event: event[0]
    )
    times = sorted({t for t, _, _ in events}) or [0]
    added = {f"q{i}": data.draw(st.sampled_from(times), label=f"q{i} is added after") for i in range(len(asked))}
    dropped = data.draw(st.none() | st.sampled_from(times), label="q0 is dropped after")
    for number, t in enumerate(times):
        arrived: defaultdict[str, list[Arrived]] = defaultdict(list)
        for at, name, row in events:
            if at == t:
                arrived[name].append((at, row))
        commands = [
            Command.adding(10 * number + i, Standing(f"q{i}", plan), needs_all_tuples(plan, KEYS, ()))
            for i, plan in enumerate(asked)
            if added[f"q{i}"] == t
        ]
        if dropped == t and added["q0"] < t:
            commands.append(Command(10 * number + 9, DROP, "q0"))
        run.batch(arrived, t, *commands)
    end = times[-1] + AFTERWARDS
    run.batch({}, end)
    for i, plan in enumerate(asked):
        gone = dropped if dropped is not None and i == 0 and added["q0"] < dropped else FOREVER
        since, seen = added[f"q{i}"], later(history, added[f"q{i}"])
        reference = Reference(plan, seen)
        for t in [t for t in [*reference.instants(end), end] if since < t <= gone]:
            wanted = reference.answer(t)
            got = run.logs[f"q{i}"].answer(t) if f"q{i}" in run.logs else type(wanted)()
            note(f"q{i} {plan} at {t}: reference {wanted}, flow {got}")
            assert close(wanted, got)
