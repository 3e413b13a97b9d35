"""A golden checkpoint of a flow in shards: queries of all backends, a table, queries that came late or went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

from golden.archive import Case
from golden.cases import TICKS
from golden.functions import KNOWN
from golden.happenings import Event, bag_rows, batches, drawn, history, larger, read_events
from golden.queries import AFTERWARDS, catalog_of
from golden.shown import Shown, compare, right_answers
from runtime.distributed.cluster import arrow_columns
from thalweg.algebra.catalog import Catalog, Relation
from thalweg.algebra.expressions import column
from thalweg.algebra.plan import Plan
from thalweg.core.time import BEGINNING, Instant
from thalweg.cql import compile_query
from thalweg.flows.command import Command
from thalweg.reference.history import History
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.flow_desk import FlowDefinition, FlowDesk
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import from_arrow, pack, to_arrow
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.stream_reader import StreamReader
from thalweg.runtime.distributed.ingest.table_reader import table_changes
from thalweg.runtime.distributed.worker.flow_program import flow_run_spec
from thalweg.runtime.distributed.worker.program import AnswerPart
from thalweg.runtime.distributed.worker.stage_plan import FlowPlan, FlowPort
from thalweg.runtime.distributed.worker.step import ShardId, run_step

SHARDS = 2
STREAMS = ("s", "t", "u")
ROWS = [(0, "zero"), (1, "one"), (3, "three"), (4, None)]  # of the table r
FIRST = {
    "selected": "SELECT k, v, name FROM s [RANGE 9] WHERE v > 1 AND name <> 'b'",
    "called": "SELECT k, v FROM s [RANGE 5] WHERE even(v)",
    "joined": "SELECT s.k, s.v, t.v AS w FROM s [RANGE 7] JOIN t [RANGE 9] ON s.k = t.k WHERE s.v >= 1",
    "counted": "SELECT k, COUNT(*) AS n, MAX(v) AS high FROM s [RANGE 9] GROUP BY k",
    "all": "SELECT COUNT(*) AS n, PRODUCT(v) AS p FROM t [RANGE 6]",
    "last": "SELECT k, v FROM u [ROWS 5]",
    "known": "SELECT s.k, s.v, r.name FROM s [RANGE 9] JOIN r ON s.k = r.k",
    "dated": "SELECT MAX(v) AS high, k FROM ISTREAM(SELECT DISTINCT k, v FROM s [RANGE 4]) [RANGE 6] GROUP BY k",
    "greedy": "SELECT k FROM t [RANGE 3]",  # has a quota, and exceeds it
    "gone": "SELECT k FROM u [RANGE 3]",  # is dropped
}
LATER = {"late": "SELECT k, v FROM s [RANGE 9] WHERE v < 3", "late-join": FIRST["joined"]}
FILLED = {"filled": "SELECT k, SUM(v) AS n FROM s [RANGE 6] GROUP BY k"}
LAST_ADDED = {"added-last": "SELECT DISTINCT k FROM s [RANGE 8]"}
AFTER = "SELECT s.v, r.name FROM s [RANGE 5] JOIN r ON s.k = r.k"  # is added after the checkpoint, with what is held


class Flow:
    """A flow in shards, whose every step begins with the files of the step before."""

    def __init__(self, folder: Path, batch: int = 0) -> None:
        self.desk, self._folder, self.batch = FlowDesk.at(folder), folder, batch
        made = self.desk.definition
        self._catalog, self._keys = made.catalog, made.keys
        self.shown: dict[str, Shown] = {}
        self._last_seq = 0 if batch == 0 else max((c.seq for c in self.desk.commands.all()), default=0)
        self._starts = count()
        layouts = Layouts(SHARDS, ()).changed(0, SHARDS)
        ports = []
        for name in STREAMS:
            schema = _stream_schema(self._catalog, name)
            ports += [FlowPort(name, schema, self._keys[name]), FlowPort(name, schema, (), all_tuples=True)]
        tables = {name: str(folder / "tables" / f"{name}.arrow") for name in made.tables}
        self._spec = FlowPlan(
            tuple(ports), layouts, {name: InputTime() for name in STREAMS}, False, tables,
            {name: _stream_schema(self._catalog, name) for name in made.tables},
            self.desk.commands.begin(has_begun=batch > 0), KNOWN,
        )  # fmt: skip
        if batch == 0:
            self._last_seq = max((c.seq for c in self.desk.commands.all()), default=0)

    def run(self, events: Sequence[Event], now: Instant) -> None:
        """One micro-batch: tuples, then the commands that have been given since the one before."""
        messages = [m for name in STREAMS for m in self._read(name, [e for e in events if e.source == name])]
        new = [command for command in self.desk.commands.all() if command.seq > self._last_seq]
        self._last_seq = max([self._last_seq, *(command.seq for command in new)])
        for shard in range(SHARDS):
            messages.append(Message(MessageKind.ADVANCE, shard, 0, 0, now, 0))
            lines = [command.line().encode() for command in new]
            messages += [Message(MessageKind.FLOW_COMMAND, shard, 0, 0, BEGINNING, 0, line) for line in lines]
        for shard in range(SHARDS):
            place = ShardId(f"{next(self._starts):03}", str(self._folder), 0, shard)
            mine = [message for message in messages if message.group % SHARDS == shard]
            for part in run_step(flow_run_spec(self._spec).stages[0], place, self.batch, mine).parts:
                self._show(part)
        self.batch += 1

    def _read(self, name: str, events: Sequence[Event]) -> list[Message]:
        schema = _stream_schema(self._catalog, name)
        ports = tuple((i, port.key) for i, port in enumerate(self._spec.ports) if port.source == name)
        arrays = [*arrow_columns(schema, [e.row for e in events]), pa.array([e.t for e in events], pa.int64())]
        table = pa.table(arrays, names=[str(i) for i in range(len(arrays))])
        return StreamReader(name, schema, ports, self._spec.layouts, stamped=False).messages(table, 0, 0)

    def _show(self, part: AnswerPart) -> None:
        assert part.owners is not None
        for number, query in enumerate(part.queries):
            shown = self.shown.setdefault(query, Shown(part.schema))
            mine = to_arrow(part.batch.take(part.owners == number), part.schema, part.pool)
            shown.add(replace(from_arrow(mine, part.schema, shown.pool), dates=None))


def _stream_schema(catalog: Catalog, name: str) -> Any:
    entry = catalog.get(name)
    return entry.schema  # type: ignore[union-attr]


def write(folder: Path) -> Case:
    """Run a flow up to the checkpoint."""
    catalog = catalog_of(TICKS)
    keys = {name: (column(_stream_schema(catalog, name), 0),) for name in STREAMS}
    FlowDesk(folder, FlowDefinition("golden", catalog, {**keys, "u": None}, ["r"], sees_all=True)).open()
    _write_table(folder, catalog)
    desk, since = FlowDesk.at(folder), dict[str, Instant]()

    def add(queries: dict[str, str], at: Instant, **options: Any) -> None:
        for name, cql in queries.items():
            (command,) = desk.add_all([cql], [name], quotas={"results": 3} if name == "greedy" else {}, **options)
            since[command.id] = at

    add(FIRST, BEGINNING)
    cut = batches(drawn(catalog, STREAMS, 110, "flow"), 6)
    middle = len(cut) * 3 // 5
    flow = Flow(folder)
    for number, events in enumerate(cut[:middle]):
        now = events[-1].t
        if number == 3:
            desk.drop("gone")
            add(LATER, now)
        if number == 5:
            add(FILLED, BEGINNING, backfill=True)
        if number == middle - 1:
            add(LAST_ADDED, now)
        flow.run(events, now)
    now, end = cut[middle - 1][-1].t, cut[-1][-1].t + AFTERWARDS
    case: Case = {
        "of": "flow", "name": "flow", "before": cut[:middle], "after": larger(cut[middle:], 3), "end": end, "now": now,
        "batches": flow.batch, "table": ROWS,
        "shown": {query: shown.intervals for query, shown in flow.shown.items()},
    }  # fmt: skip
    queries = {id_: c for id_, c in desk.commands.live().items() if c.name != "greedy"}
    added, added_at = compile_query(AFTER, catalog), case["after"][0][-1].t
    right = right_answers(added, _history_of(case, BEGINNING, catalog), added_at, end)
    return case | {
        "added": AFTER,
        "added_at": added_at,
        "added_answers": _listed(right),
        "since": {query: since[query] for query in queries},
        "answers": {query: _listed(_right(case, c, since[query], catalog)) for query, c in queries.items()},
    }


def _write_table(folder: Path, catalog: Catalog) -> None:
    table = catalog.get("r")
    assert isinstance(table, Relation)
    times = [pa.nulls(len(ROWS), pa.int64()), pa.array([1] * len(ROWS), pa.int64())]
    arrays = [*arrow_columns(table.schema, ROWS), *times]
    rows = pa.table(arrays, names=[str(i) for i in range(len(arrays))])
    replace_file(folder / "tables" / "r.arrow", pack(table_changes(rows)))


def go_on(case: Case, folder: Path) -> None:
    """Restore a checkpoint, go on, and compare the answers of all queries at every instant from then on."""
    flow = Flow(folder, case["batches"])
    live = flow.desk.commands.live()
    for query, intervals in case["shown"].items():
        if query in live:
            flow.shown[query] = Shown(_plan(live[query]).schema, before=intervals)
    (added,) = flow.desk.add_all([case["added"]], backfill=True)
    for events in case["after"]:
        happened = read_events(events)
        flow.run(happened, happened[-1].t)
    flow.run([], case["end"])
    catalog = flow.desk.definition.catalog
    right = right_answers(_plan(added), _history_of(case, BEGINNING, catalog), case["added_at"], case["end"])
    compare(flow.shown[added.id], right, case["added_answers"])
    for query, since in case["since"].items():
        shown = flow.shown.get(query) or Shown(_plan(live[query]).schema)
        compare(shown, _right(case, live[query], since, catalog), case["answers"][query])


def _plan(command: Command) -> Plan:
    return command.standing(KNOWN).plan


def _right(case: Case, command: Command, since: Instant, catalog: Catalog) -> dict[Instant, Any]:
    return right_answers(_plan(command), _history_of(case, since, catalog), case["now"], case["end"])


def _history_of(case: Case, since: Instant, catalog: Catalog) -> History:
    """The tuples that came after a query; the table has always been there."""
    events = read_events([e for part in (case["before"], case["after"]) for batch in part for e in batch])
    past = history(catalog, [event for event in events if event.t > since])
    for row in case["table"]:
        past.insert("r", BEGINNING, tuple(row))
    return past


def _listed(right: dict[Instant, Any]) -> list[Any]:
    return [[t, bag_rows(bag)] for t, bag in right.items()]
