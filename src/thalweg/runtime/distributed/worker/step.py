"""A shard's step: it takes the state that the batch before left, runs one batch, and saves the state.

A step may be cut short anywhere, and be run again, in another process, or in two at once. It always begins with the
state after the batch before, and saves its own state before anybody sees its messages. A task that Spark kills may get
only some of its messages, without an error. So of two states after a batch the one made from more messages counts, and
states of a later start of the query count for more than those of an earlier one. A step of a driver that has lost the
checkpoint to another one is refused before it writes anything.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.core.errors import CheckpointError, SnapshotError
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.checksums import WRONG_SHAPE
from thalweg.runtime.distributed.checkpoint.layouts import remove_older, shard_folder, stage_folder
from thalweg.runtime.distributed.checkpoint.lease import check_fence
from thalweg.runtime.distributed.checkpoint.manifest import Weight
from thalweg.runtime.distributed.checkpoint.store import ShardStore
from thalweg.runtime.distributed.exchange.message import Message
from thalweg.runtime.distributed.worker.grouped_program import state_before
from thalweg.runtime.distributed.worker.program import ShardProgram, StageSpec, StepResult

LONGEST_REST = 600.0  # seconds after which a program that waits in memory is dropped: its query may have been stopped


class ShardId(NamedTuple):
    """A shard of a stage, of a query that was started once."""

    start: str  # a new one each time that the query is started, later ones sort behind: its settings may differ
    checkpoint: str
    stage: int
    shard: int
    fence: int = 0  # of the driver, see `lease.py`; 0 if nobody else can have the checkpoint


class _Resting(NamedTuple):
    """A program between two batches."""

    batch: int  # the last one that it has run
    since: float  # when that was
    program: ShardProgram
    store: ShardStore


# Programs that this process has run and may run again. A program is not here while it runs, so a step that fails leaves
# no program with half a batch in it.
_resting: dict[ShardId, _Resting] = {}


def run_step(
    spec: StageSpec[Any],
    shard: ShardId,
    batch: int,
    messages: Iterable[Message],
    longest_rest: float = LONGEST_REST,
) -> StepResult:
    """One batch of one shard. Programs that have rested for more than `longest_rest` seconds are dropped."""
    received = list(messages)
    rested = _resting.pop(shard, None)
    done = rested if rested is not None and rested.store.is_at(batch) else None  # the batch is run again
    _drop_useless(shard, batch, longest_rest)
    program, store = _take_up(spec, shard, batch, rested)
    result = program.run(received)
    checkpoint, layout = Path(shard.checkpoint), spec.layouts.last
    weight = Weight(shard.start, len(received))
    if shard.fence:
        check_fence(checkpoint, shard.fence)
    if not store.is_outweighed(batch, weight):
        program.side_outputs.write(checkpoint, batch, shard.shard, layout.shards)
        store.save(batch, program.snapshot(), program.report(), weight, shard.fence)
        _resting[shard] = _Resting(batch, time.monotonic(), program, store)
    elif (
        done is not None and done.program is not program
    ):  # else the program was run again, perhaps with fewer messages
        _resting[shard] = done
    if shard.shard == 0:
        remove_older(stage_folder(checkpoint, shard.stage), layout, batch)
    return result


def _take_up(
    spec: StageSpec[Any], shard: ShardId, batch: int, rested: _Resting | None
) -> tuple[ShardProgram, ShardStore]:
    """The program as the batch before left it, from this process's memory or from its files."""
    if rested is not None and rested.store.is_at(batch - 1):
        return rested.program, rested.store
    checkpoint = Path(shard.checkpoint)
    store = ShardStore(shard_folder(checkpoint, shard.stage, spec.layouts.last, shard.shard))
    if batch == 0:
        return spec.program(shard.shard), store
    state = state_before(batch, spec.layouts, checkpoint, shard.stage, shard.shard, store)
    try:
        return _restored(spec, shard.shard, state, rested), store
    except WRONG_SHAPE as error:
        folder = shard_folder(checkpoint, shard.stage, spec.layouts.at(batch - 1), shard.shard)
        raise CheckpointError(
            f"the state after batch {batch - 1} in {folder} does not fit the query: {error!r}",
            hint="a file was changed, or another version of Thalweg wrote it: restore it from a backup",
        ) from error


def _restored(spec: StageSpec[Any], shard: int, state: Tree, rested: _Resting | None) -> ShardProgram:
    if rested is not None and rested.program.is_reusable():
        try:
            rested.program.restore(state)
            return rested.program
        except SnapshotError:  # a step that failed has changed the program: make a new one
            pass
    program = spec.program(shard)
    program.restore(state)
    return program


def _drop_useless(shard: ShardId, batch: int, longest_rest: float) -> None:
    """Drop programs whose shards other processes have gone on with."""
    now = time.monotonic()
    for other, resting in list(_resting.items()):
        behind = resting.batch < batch - 1 and not resting.program.is_reusable()
        overtaken = other.checkpoint == shard.checkpoint and (other.start != shard.start or behind)
        if overtaken or now - resting.since > longest_rest:
            del _resting[other]
