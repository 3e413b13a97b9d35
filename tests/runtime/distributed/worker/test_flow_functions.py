"""Users' functions in a flow's checkpoint: would catch code in it, or a shard that one query brings down."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import thalweg as tw
from runtime.distributed.worker.test_flow_in_shards import Shards
from strategies.catalog import S, T, U
from thalweg.algebra.catalog import Catalog
from thalweg.algebra.codec import NO_FUNCTIONS, Functions
from thalweg.algebra.expressions import column
from thalweg.core.errors import CheckpointError, PlanError
from thalweg.cql import compile_query, register
from thalweg.flows.command import Command
from thalweg.flows.standing import Standing
from thalweg.runtime.distributed.checkpoint.flow_desk import FlowDefinition, FlowDesk
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.worker.flow_program import FlowProgram

ASKED = "SELECT k FROM s [RANGE 5] WHERE odd(k)"


@tw.function(returns=bool, takes=int)
def odd(n: int) -> bool:
    return n % 2 == 1


def made(*functions: object) -> FlowDefinition:
    catalog = Catalog()
    for source in (S, T, U):
        catalog.add(source)
    for function in functions:
        register(catalog, function)
    return FlowDefinition("desk", catalog, {S.name: (column(S.schema, 0),), T.name: None}, [], sees_all=True)


def test_what_a_flow_is_made_of_comes_back(tmp_path: Path) -> None:
    FlowDesk(tmp_path, made(odd)).open()
    assert FlowDesk.is_at(tmp_path)
    found = FlowDesk.at(tmp_path).definition
    assert found.as_json() == made(odd).as_json()
    assert (found.keys, found.catalog.entries) == (made().keys, made().catalog.entries)


def test_queries_with_functions_are_handed_in_where_only_their_declarations_are_known(tmp_path: Path) -> None:
    FlowDesk(tmp_path, made(odd)).open()
    (command,) = FlowDesk.at(tmp_path).add_all([ASKED])
    assert command.calls == ["odd"]
    (found,) = FlowDesk.at(tmp_path).commands.live().values()
    assert found == command and Command.read(command.line()) == command
    assert found.standing(Functions.of([odd])).plan == compile_query(ASKED, made(odd).catalog)


def test_a_flow_that_runs_calls_what_it_was_started_with(tmp_path: Path) -> None:
    desk = FlowDesk(tmp_path, made(odd))
    with pytest.raises(PlanError, match="the flow desk was started before ODD was registered"):
        desk.add_all([ASKED], runs_with=NO_FUNCTIONS)
    assert not desk.commands.live()
    assert len(desk.add_all([ASKED], runs_with=Functions.of([odd]))) == 1


def test_a_function_that_is_missing_is_named_before_the_flow_starts(tmp_path: Path) -> None:
    desk = FlowDesk(tmp_path, made(odd))
    desk.add_all([ASKED], ["strange"])
    desk.check_functions()
    again = FlowDesk(tmp_path, made())
    with pytest.raises(CheckpointError, match=r"strange \(q1\) of the flow desk calls ODD, which is not registered"):
        again.check_functions()
    again.commands.suspend({"q1": "it raised"})
    again.check_functions()  # it does not run


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"version": 9}', "has format 9, but this version of Thalweg reads 2"),
        ('{"version": 1}', "cannot be read: KeyError"),
        ("cos\nsystem\n(S'true'\ntR.", "cannot be read: Expecting value"),
    ],
)
def test_a_file_that_is_none_of_ours_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "flow.json").write_text(text)
    with pytest.raises(CheckpointError, match=message):
        FlowDesk.at(tmp_path)


def test_a_shard_refuses_a_query_whose_function_it_does_not_know() -> None:
    spec, catalog = Shards(1).spec, made(odd).catalog
    commands = [
        Command.adding(i, Standing(f"q{i}", compile_query(cql, catalog)), whole=False)
        for i, cql in enumerate([ASKED, "SELECT k FROM s [RANGE 5]"], start=1)
    ]
    lines = [Message(MessageKind.FLOW_COMMAND, 0, 0, 0, 0, 0, command.line().encode()) for command in commands]
    program = FlowProgram(spec, 0)
    program._group("0")
    program.run([*lines, Message(MessageKind.ADVANCE, 0, 0, 0, 1, 0)])
    flow = program.report().flow
    assert flow is not None and flow.suspended == {"q1": "a query calls the function ODD, which is not registered here"}
    assert list(flow.counts) == ["q2"]


def test_a_snapshot_is_restored_where_its_functions_are_known() -> None:
    catalog = made(odd).catalog
    command = Command.adding(1, Standing("q1", compile_query(ASKED, catalog)), whole=False)
    spec = Shards(1, [odd]).spec
    program = FlowProgram(spec, 0)
    program._group("0")
    program.run([Message(MessageKind.FLOW_COMMAND, 0, 0, 0, 0, 0, command.line().encode())])
    tree = program.snapshot()
    again = FlowProgram(spec, 0)
    again.restore(tree)
    flow = again.report().flow
    assert flow is not None and list(flow.counts) == ["q1"]
    texts = [tree["own"]["commands"]["all"], tree["groups"]["0"]["engine"]["standing"]["all"]]
    assert all(json.loads(bytes(np.asarray(text))[len("q1") :])["id"] == "q1" for text in texts)
    with pytest.raises(CheckpointError, match="calls the function ODD, which is not registered here"):
        FlowProgram(Shards(1).spec, 0).restore(tree)
