"""A shard's turn: it takes up the state that the batch before left, does one batch, and puts the state down.

A turn may be cut short anywhere, be taken again, by another process, or by two at once. It always begins with the state
after the batch before, and the state is on disk before anybody sees what the turn has to say. A task that Spark kills
may see its parcels end early, as if there were no more; so a state counts for more than one made of fewer parcels, and
a start of the query for more than those before it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from thalweg.core.errors import SnapshotError
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.layouts import remove_older, shard_folder, stage_folder
from thalweg.runtime.distributed.checkpoint.resharding import state_before
from thalweg.runtime.distributed.checkpoint.store import ShardStore, Weight
from thalweg.runtime.distributed.exchange.message import Parcel
from thalweg.runtime.distributed.worker.flow_group import FlowPart
from thalweg.runtime.distributed.worker.flow_program import FlowWorker
from thalweg.runtime.distributed.worker.flow_spec import FlowSpec
from thalweg.runtime.distributed.worker.group import Part
from thalweg.runtime.distributed.worker.query_program import ShardWorker
from thalweg.runtime.distributed.worker.query_spec import QuerySpec

_LONGEST_REST = 600.0  # seconds after which a shard that rests in memory is forgotten: its query may have been stopped


class Place(NamedTuple):
    """Which shard of which stage, of a query that was started once."""

    start: str  # a new one each time that the query is started, later ones sort behind: its settings may differ
    checkpoint: str
    stage: int
    shard: int


class Turn(NamedTuple):
    """What came of a turn: parcels for the next stage, and parts of the answer."""

    parcels: list[Parcel]
    parts: list[Part] | list[FlowPart]


class _Shard(NamedTuple):
    """A shard that rests, with the batch that it has done and since when it rests."""

    batch: int
    since: float
    worker: ShardWorker | FlowWorker
    store: ShardStore


# Shards that this process has run. A shard is taken out while it works, so that a turn that fails leaves nothing half
# done behind.
_at_rest: dict[Place, _Shard] = {}


def take_turn(spec: QuerySpec | FlowSpec, place: Place, batch: int, parcels: Iterable[Parcel]) -> Turn:
    """One batch of one shard."""
    sent = list(parcels)
    rested = _at_rest.pop(place, None)
    done = rested if rested is not None and rested.store.is_at(batch) else None  # the batch is run again
    worker, store = _take_up(spec, place, batch, rested)
    out, parts = worker.run(sent)
    checkpoint = Path(place.checkpoint)
    weight = Weight(place.start, len(sent))
    if not store.is_outdone(batch, weight):
        worker.aside.write(checkpoint, batch, place.shard, spec.shards)
        store.save(batch, worker.snapshot(), worker.about(), weight)
        _at_rest[place] = _Shard(batch, time.monotonic(), worker, store)
    elif done is not None:
        _at_rest[place] = done
    if place.shard == 0:
        remove_older(stage_folder(checkpoint, place.stage), spec.layouts.last, batch)
    return Turn(out, parts)


def _take_up(
    spec: QuerySpec | FlowSpec, place: Place, batch: int, rested: _Shard | None
) -> tuple[ShardWorker | FlowWorker, ShardStore]:
    """The shard as the batch before left it, from this process's memory or from its files."""
    _forget_others(place, batch)
    if rested is not None and rested.store.is_at(batch - 1):
        return rested.worker, rested.store
    checkpoint = Path(place.checkpoint)
    store = ShardStore(shard_folder(checkpoint, place.stage, spec.layouts.last, place.shard))
    state = None
    if batch > 0:
        state = state_before(batch, spec.layouts, checkpoint, place.stage, place.shard, store)
    if isinstance(spec, FlowSpec):
        return _flow_worker(spec, place.shard, state, rested), store
    worker = ShardWorker(spec, place.stage, place.shard)
    if state is not None:
        worker.restore(state)
    return worker, store


def _flow_worker(spec: FlowSpec, shard: int, state: Tree | None, rested: _Shard | None) -> FlowWorker:
    """A flow's many queries are dear to build: what this process has of them is taken back to the state, if it can."""
    if state is not None and rested is not None and isinstance(rested.worker, FlowWorker):
        try:
            rested.worker.restore(state)
            return rested.worker
        except SnapshotError:  # a turn that came to nothing has left its traces in it
            pass
    worker = FlowWorker(spec, shard)
    if state is not None:
        worker.restore(state)
    return worker


def _forget_others(place: Place, batch: int) -> None:
    """Shards that rest here while other processes go on with them are of no use."""
    now = time.monotonic()
    for other, shard in list(_at_rest.items()):
        of_flow = isinstance(shard.worker, FlowWorker)  # which is of use as long as its queries stand
        behind = shard.batch < batch - 1 and not of_flow
        overtaken = other.checkpoint == place.checkpoint and (other.start != place.start or behind)
        if overtaken or now - shard.since > _LONGEST_REST:
            del _at_rest[other]
