"""What programs of queries and flows share: clock, side outputs, and groups that get the messages for them.

Every group of keys has a state of its own. A shard holds some groups, and goes on with other groups when the number of
shards changes. The clock and the program's own state are the same in every shard, so they can be read from any shard of
the previous layout. The counts of side outputs of a shard go to one shard of the next layout only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.control import CONTROL, read_command
from thalweg.runtime.distributed.checkpoint.layouts import Layouts, shard_folder
from thalweg.runtime.distributed.checkpoint.report import BAD_ROWS, LATE, ShardReport
from thalweg.runtime.distributed.checkpoint.store import ShardStore
from thalweg.runtime.distributed.exchange.message import FileLine, Message, MessageKind, in_order
from thalweg.runtime.distributed.exchange.outgoing import OutgoingRows
from thalweg.runtime.distributed.ingest.clock import InputTime, QueryClock, StepTime
from thalweg.runtime.distributed.ingest.side_outputs import SideOutputs
from thalweg.runtime.distributed.worker.program import AnswerPart, StepResult

GroupName = str  # the number of a group of keys, perhaps followed by a slash and a word

_SIDE_OUTPUTS = {MessageKind.BAD_ROWS: BAD_ROWS, MessageKind.LATE_ROWS: LATE}


class Group(Protocol):
    """One group of keys of a shard."""

    arrived: int  # rows of streams in the last batch

    @property
    def waiting(self) -> int:
        """Tuples ahead of the clock."""

    @property
    def stored(self) -> int:
        """Tuples that operators hold."""

    def run(
        self, messages: Sequence[Message], time: StepTime, outgoing: OutgoingRows, side_outputs: SideOutputs
    ) -> Iterable[AnswerPart]:
        """One micro-batch: the group's parts of answers; rows for later stages go to `outgoing`."""

    def snapshot(self) -> Tree:
        """The state that the next batch needs."""

    def restore(self, tree: Tree) -> None:
        """Go on from a snapshot."""


G = TypeVar("G", bound=Group)
Received = defaultdict[GroupName, list[Message]]


class GroupedProgram(ABC, Generic[G]):
    """A `ShardProgram` of groups; a group begins when it first gets a message."""

    def __init__(self, shard: int, layouts: Layouts, inputs: Mapping[str, InputTime], stamped: bool) -> None:
        quotas = {name: given.quota for name, given in inputs.items()}
        self.side_outputs = SideOutputs(quotas, layouts.last.shards)
        self._shard, self._stamped = shard, stamped
        self._mine = layouts.last.groups_of(shard, layouts.groups)
        self._clock = QueryClock(inputs, stamped)
        self._groups: dict[GroupName, G] = {}
        self._has_begun = False

    # -- what programs differ in

    @abstractmethod
    def is_reusable(self) -> bool:
        """See `ShardProgram`."""

    @abstractmethod
    def _new_group(self, name: GroupName) -> G:
        """A group that has seen nothing."""

    @abstractmethod
    def _source_of(self, port: int) -> str | None:
        """The source that comes in by a port; None if the port brings rows of an earlier stage."""

    @abstractmethod
    def _deal(self, messages: Sequence[Message], time: StepTime) -> tuple[list[Message], Received]:
        """Messages that only pass through to later stages, and those of each group."""

    @abstractmethod
    def _own_state(self) -> Tree:
        """State besides clock, side outputs and groups; it must be the same in every shard."""

    @abstractmethod
    def _restore_own(self, tree: Tree) -> None:
        """Restore that state."""

    def _before_first_batch(self) -> None:
        """Called once, if nothing was restored."""

    def _after_batch(self, messages: Sequence[Message]) -> None:
        """Called when the groups have run."""

    # -- state

    def snapshot(self) -> Tree:
        """See `ShardProgram`."""
        return {
            "clock": self._clock.snapshot(),
            "side_outputs": self.side_outputs.snapshot(),
            "own": self._own_state(),
            "groups": {name: group.snapshot() for name, group in self._groups.items()},
        }

    def restore(self, tree: Tree) -> None:
        """See `ShardProgram`."""
        self._has_begun = True
        self._clock.restore(tree["clock"])
        self.side_outputs.restore(tree["side_outputs"])
        self._restore_own(tree["own"])
        states = tree["groups"]
        self._groups = {name: group for name, group in self._groups.items() if name in states}
        for name, state in states.items():
            if name not in self._groups:
                self._groups[name] = self._new_group(name)
            self._groups[name].restore(state)

    def report(self) -> ShardReport:
        """See `ShardProgram`."""
        groups = self._groups.values()
        return ShardReport(
            now=self._clock.now,
            began=self._clock.began,
            latest=self._clock.latest,
            stamped=self._stamped,
            groups=tuple(sorted({_number(name) for name in self._groups})),
            arrived=sum(group.arrived for group in groups),
            waiting=sum(group.waiting for group in groups),
            stored=sum(group.stored for group in groups),
            side_outputs=dict(self.side_outputs.counts),
        )

    # -- work

    def run(self, messages: Iterable[Message]) -> StepResult:
        """See `ShardProgram`."""
        if not self._has_begun:
            self._before_first_batch()
        ordered = in_order(messages)
        system = max((message.system for message in ordered), default=0)
        time = StepTime(self._clock.now, self._advance(ordered, system), system)
        for message in ordered:
            if message.kind in _SIDE_OUTPUTS:
                self.side_outputs.add_packed(_SIDE_OUTPUTS[message.kind], message.blob)
        passing, received = self._deal(ordered, time)
        self._has_begun = True
        outgoing, parts = OutgoingRows(), list[AnswerPart]()
        for name in sorted(self._groups.keys() | received.keys(), key=lambda name: (_number(name), name)):
            parts += self._group(name).run(received[name], time, outgoing, self.side_outputs)
        self._after_batch(ordered)
        heartbeat = Message(MessageKind.HEARTBEAT, self._shard, 0, self._shard, time.after, system)
        return StepResult([*passing, *outgoing.messages(self._shard, time.after, system), heartbeat], parts)

    def _group(self, name: GroupName) -> G:
        if name not in self._groups:
            self._groups[name] = self._new_group(name)
        return self._groups[name]

    def _advance(self, messages: Sequence[Message], system: int) -> Instant:
        """The query's clock after the batch. The first stage computes it, and sends it on in heartbeats."""
        seen: dict[str, Instant] = {}
        for message in messages:
            if message.kind is MessageKind.ROWS and message.clock > BEGINNING:
                source = self._source_of(message.port)
                if source is not None:
                    seen[source] = max(message.clock, seen.get(source, BEGINNING))
        self._clock.see(seen, system)
        for message in messages:
            if message.kind in (MessageKind.HEARTBEAT, MessageKind.ADVANCE):
                self._clock.advance(message.clock)
            elif message.kind is MessageKind.DRAIN:
                self._clock.drain()
            elif message.kind is MessageKind.CONTROL:
                self._obey_control(FileLine.unpacked(message.blob))
        return self._clock.now

    def _obey_control(self, command: FileLine) -> None:
        clock = read_command(Path(CONTROL) / command.file, command.line)
        if clock is None:
            self._clock.drain()
        else:
            self._clock.advance(clock)


def state_before(batch: int, layouts: Layouts, checkpoint: Path, stage: int, shard: int, store: ShardStore) -> Tree:
    """The state with which a shard begins a batch; `store` is the shard's own.

    In the first batch of a layout it is put together from the groups in the states of the previous layout's shards.
    """
    before, here = layouts.at(batch - 1), layouts.last
    if before == here:
        return store.load(batch - 1)
    mine = here.groups_of(shard, layouts.groups)
    holders = sorted({group % before.shards for group in mine})
    trees = [ShardStore(shard_folder(checkpoint, stage, before, holder)).load(batch - 1) for holder in holders]
    counts = Counter[str]()
    for holder, tree in zip(holders, trees, strict=True):
        if holder % here.shards == shard:  # of the shards that read this state, only this one adds its counts
            counts.update(tree["side_outputs"])
    groups = {name: group for tree in trees for name, group in tree["groups"].items() if _number(name) in mine}
    return {**trees[0], "side_outputs": dict(counts), "groups": groups}


def _number(name: GroupName) -> int:
    """The number of the group of keys; a group moves with it from shard to shard."""
    return int(name.partition("/")[0])
