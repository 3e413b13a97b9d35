"""A flow's program in one shard: groups that run all queries, and in group 0 those that must see all tuples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from thalweg.flows.command import ADD, SUSPEND, Command
from thalweg.flows.metrics import QueryMetrics
from thalweg.flows.texts import Texts
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.flow_commands import read_line
from thalweg.runtime.distributed.checkpoint.folder import COMMANDS
from thalweg.runtime.distributed.checkpoint.report import FlowReport, ShardReport
from thalweg.runtime.distributed.exchange.message import FileLine, Message, MessageKind
from thalweg.runtime.distributed.ingest.clock import StepTime
from thalweg.runtime.distributed.worker.flow_group import FlowGroup
from thalweg.runtime.distributed.worker.grouped_program import GroupedProgram, GroupName, Received
from thalweg.runtime.distributed.worker.program import RunSpec, StageSpec
from thalweg.runtime.distributed.worker.stage_plan import FlowPlan

STAGES = 1  # a flow has one
ALL_TUPLES = "0/all"  # the name of the group that gets all tuples; it moves with group 0


class FlowProgram(GroupedProgram[FlowGroup]):
    """Commands take effect at the end of the batch that brings them: a new query sees later tuples."""

    def __init__(self, flow: FlowPlan, shard: int) -> None:
        super().__init__(shard, flow.layouts, flow.inputs, flow.stamped)
        self._flow = flow
        self._standing: dict[str, Command] = {}  # by query, the command that added it
        self._texts = Texts(Command.line)  # of these
        self._suspended: dict[str, str] = {}  # queries that have failed in any shard, and why
        self._last_command = -1

    def is_reusable(self) -> bool:
        """True: to make the operators of a flow's many queries costs much."""
        return True

    def _new_group(self, name: GroupName) -> FlowGroup:
        return FlowGroup(self._flow, name == ALL_TUPLES)

    def _source_of(self, port: int) -> str | None:
        return self._flow.ports[port].source

    # -- state

    def _own_state(self) -> Tree:
        return {
            "commands": self._texts.snapshot(),
            "last_command": self._last_command,
            "suspended": dict(self._suspended),
        }

    def _restore_own(self, tree: Tree) -> None:
        if not self._standing or not self._texts.is_as_in(tree["commands"]):
            self._standing = self._texts.restore(tree["commands"], Command.read)
        self._last_command, self._suspended = tree["last_command"], dict(tree["suspended"])

    def report(self) -> ShardReport:
        """See `ShardProgram`."""
        groups = self._groups.values()
        failed = {query: why for group in groups for query, why in group.suspended().items()}
        counts: dict[str, QueryMetrics] = {}
        for group in groups:
            for query, metrics in group.metrics().items():
                counts[query] = counts[query] + metrics if query in counts else metrics
        flow = FlowReport(self._last_command, len(self._standing), {**failed, **self._suspended}, counts)
        return replace(super().report(), flow=flow)

    # -- work

    def _before_first_batch(self) -> None:
        self._obey([Command.read(line) for line in self._flow.first_commands])

    def _deal(self, messages: Sequence[Message], time: StepTime) -> tuple[list[Message], Received]:
        received: Received = defaultdict(list)
        for message in messages:
            if message.kind is MessageKind.ROWS and len(message.blob):
                all_tuples = self._flow.ports[message.port].all_tuples
                received[ALL_TUPLES if all_tuples else str(message.group)].append(message)
        return [], received

    def _after_batch(self, messages: Sequence[Message]) -> None:
        commands = [command_in(message.blob) for message in messages if message.kind is MessageKind.FLOW_COMMAND]
        self._obey(sorted(commands, key=lambda command: command.seq))

    def _group(self, name: GroupName) -> FlowGroup:
        """A new group has all queries from the start; it has missed no tuple, for none was for this group."""
        if name not in self._groups:
            group = super()._group(name)
            for command in self._standing.values():
                group.obey(command, None)
        return self._groups[name]

    def _obey(self, commands: Sequence[Command]) -> None:
        if 0 in self._mine and any(command.whole for command in commands):
            self._group(ALL_TUPLES)
        for command in commands:
            if command.seq <= self._last_command:
                continue  # a flow that was started anew may get a command again
            self._last_command = command.seq
            for group in self._groups.values():
                group.obey(command, self._clock.now)
            if command.command == ADD:
                self._standing[command.id] = command
                self._texts.put(command.id, command)
            elif self._standing.pop(command.id, None) is not None:
                self._texts.drop(command.id)
            if command.command == SUSPEND:
                self._suspended[command.id] = command.reason
            else:
                self._suspended.pop(command.id, None)


def command_in(blob: bytes | pa.Buffer) -> Command:
    """The command that a message brings: a line of a file, checked, or a bare command."""
    file, line = FileLine.unpacked(blob)
    return read_line(Path(COMMANDS) / file, line)[0] if line else Command.read(file)


def flow_run_spec(flow: FlowPlan) -> RunSpec:
    """What the tasks of a flow know: a flow has one stage."""
    return RunSpec(flow.layouts, flow.stamped, (StageSpec(0, flow.layouts, flow, FlowProgram),))
