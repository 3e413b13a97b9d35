"""Codes of keys in checkpoints of the first version, which knew three classes for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.lanes import Ints
from thalweg.core.runs import join_runs
from thalweg.kernel.state.snapshot import Tree, loaded_array, saved_array
from thalweg.kernel.state.upgrades import Fields, upgrade

_CODE_BITS = 32


@upgrade("key-table/1", "key-table/2")
def _without_bounds(old: Fields) -> Fields:
    """A table knew the least and the greatest of its keys."""
    return {name: part for name, part in old.items() if name != "_bounds"} | {"_forget_at": 0}


@upgrade("lane-codes/1", "key-table/2", renamed=True)
def _one_lane(old: Fields) -> Fields:
    """The codes of one lane were runs of values, by code."""
    return _table([join_runs(old["_log"])[0] if old["_log"] else np.empty(0, dtype=np.int64)])


@upgrade("key-codes/1", "key-table/2", renamed=True)
def _several_lanes(old: Fields) -> Fields:
    """There were codes for each lane, then codes for pairs of a code so far and the code of the next lane."""
    lanes, pairs = ([_values(part) for part in old[name]] for name in ("_lanes", "_pairs"))
    if not lanes:
        return _table([])
    codes: Ints = np.arange(len(pairs[-1] if pairs else lanes[0]))
    keys: list[Ints] = []
    for lane, pair in zip(lanes[:0:-1], pairs[::-1], strict=True):
        packed = pair[codes]
        keys.insert(0, lane[packed & ((1 << _CODE_BITS) - 1)])
        codes = packed >> _CODE_BITS
    return _table([lanes[0][codes], *keys])


def _table(keys: Sequence[Ints]) -> Fields:
    """A table of keys, by code."""
    return {
        "_forget_at": 0,
        "keys": [saved_array(key) for key in keys],
        "free": saved_array(np.empty(0, dtype=np.int64)),
        "size": len(keys[0]) if keys else 1,
        "narrow": len(keys) == 1,
    }


def _values(lane: Tree) -> Ints:
    """The values of a lane's codes 0, 1, 2 ..."""
    values: Ints = loaded_array(lane["keys"][0])
    return values
