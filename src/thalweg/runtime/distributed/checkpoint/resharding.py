"""The state with which a shard begins a batch: its own, or, in a layout's first batch, what its groups were before.

Clock and tables that all shards know are the same in every shard, so any of the shards before can tell them. Counts of
what was put aside are handed on by each shard before to one shard only.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.layouts import Layouts, shard_folder
from thalweg.runtime.distributed.checkpoint.store import ShardStore


def state_before(batch: int, layouts: Layouts, checkpoint: Path, stage: int, shard: int, store: ShardStore) -> Tree:
    """The state of a shard after the batch before; `store` is its own."""
    before, here = layouts.at(batch - 1), layouts.last
    if before == here:
        return store.load(batch - 1)
    mine = here.groups_of(shard, layouts.groups)
    holders = sorted({group % before.shards for group in mine})
    folders = [shard_folder(checkpoint, stage, before, holder) for holder in holders]
    trees = [ShardStore(folder).load(batch - 1) for folder in folders]
    aside = Counter[str]()
    for holder, tree in zip(holders, trees, strict=True):
        if holder % here.shards == shard:  # the one that takes over the group of this number
            aside.update(tree["aside"])
    groups = {number: group for tree in trees for number, group in tree["groups"].items() if int(number) in mine}
    return {**trees[0], "aside": dict(aside), "groups": groups}
