"""The state of a checkpoint as Parquet, for people and for tests: one table for each buffer of each operator.

    stage-<s>/<operator>.<buffer>.parquet   stage, shard, group, operator, part, row, then the lanes of the buffer
    strings.parquet                         stage, shard, group, where, code, text: what the codes of strings stand for
    values.parquet                          stage, shard, group, operator, where, value: everything that is no array

A lane is as operators hold it: strings are codes, times are ticks, NULL is -2^63 or NaN. A checkpoint does not say
which lanes are strings, so their codes are exported with the pools that they belong to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from thalweg.core.errors import CheckpointError
from thalweg.core.lanes import Lane
from thalweg.core.path_names import path_name
from thalweg.core.strings import StringPool
from thalweg.kernel.state.array_log import ArrayLog
from thalweg.kernel.state.snapshot import KIND, Tree
from thalweg.runtime.distributed.checkpoint.files import not_written
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.inspection import Shard, shards
from thalweg.runtime.distributed.checkpoint.store import ShardStore

_ARRAY = "<array>"
_POOL = "pool"


class _Place(NamedTuple):
    """Where in a state something is: the names that lead there, and the places in lists on the way."""

    stage: int
    shard: int
    group: str
    operator: str
    names: tuple[str, ...] = ()
    part: tuple[int, ...] = ()

    def below(self, name: str) -> _Place:
        return self._replace(names=(*self.names, name))

    def at(self, place: int) -> _Place:
        return self._replace(part=(*self.part, place))

    @property
    def where(self) -> str:
        return ".".join([*self.names, *map(str, self.part)])


@dataclass
class Exported:
    """The tables of a state, in parts, and how many files they have become."""

    tables: dict[str, list[pa.Table]] = field(default_factory=dict)  # by name, the parts
    strings: list[pa.Table] = field(default_factory=list)
    values: list[dict[str, Any]] = field(default_factory=list)


def export(checkpoint: Checkpoint, folder: Path) -> int:
    """Write the state after the last committed batch to an empty folder; the number of files."""
    if folder.exists() and any(folder.iterdir()):
        raise CheckpointError(f"{folder} is not empty", hint="export to a new folder")
    found = Exported()
    for shard in shards(checkpoint):
        _add_shard(found, shard)
    tables = {name: pa.concat_tables(parts, promote_options="permissive") for name, parts in found.tables.items()}
    if found.strings:
        tables["strings"] = pa.concat_tables(found.strings)
    if found.values:
        tables["values"] = pa.Table.from_pylist(found.values)
    try:
        for name, table in tables.items():
            path = folder / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table, path)
    except OSError as error:
        raise not_written(folder, error) from error
    return len(tables)


def _add_shard(found: Exported, shard: Shard) -> None:
    state = ShardStore(shard.folder).load(shard.manifest.batch)
    for name in ("clock", "side_outputs", "own"):
        _add(found, _Place(shard.stage, shard.shard, "", name), state[name])
    for group, tree in state["groups"].items():
        for operator, part in _operators(tree):
            _add(found, _Place(shard.stage, shard.shard, group, operator), part)


def _operators(group: Mapping[str, Tree]) -> Iterator[tuple[str, Tree]]:
    """The parts of a group; of a pipeline its operators, named by their places and kinds."""
    for name, part in group.items():
        if name != "pipeline":
            yield name, part
            continue
        running = [(i, node) for i, node in enumerate(part["nodes"]) if not node.startswith("source ")]
        for (i, node), operator in zip(running, part["operators"], strict=True):
            yield f"{i}-{node}", operator
        yield name, {key: item for key, item in part.items() if key != "operators"}


def _add(found: Exported, place: _Place, tree: Tree) -> None:
    match tree:
        case dict() if _ARRAY in tree:
            _add_lanes(found, place, {"value": ArrayLog.read(tree[_ARRAY])[1]})
        case dict():
            _add_object(found, place, {name: _plain(item) for name, item in tree.items() if name != KIND})
        case list() | tuple() if tree and all(isinstance(item, np.ndarray) for item in tree):
            _add_lanes(found, place, {str(i): item for i, item in enumerate(tree)})
        case list() | tuple():
            for i, item in enumerate(tree):
                _add(found, place.at(i), item)
        case np.ndarray():
            _add_lanes(found, place, {"value": tree})
        case _:
            about = {"stage": place.stage, "shard": place.shard, "group": place.group, "operator": place.operator}
            found.values.append({**about, "where": place.where, "value": json.dumps(tree)})


def _plain(tree: Tree) -> Tree:
    """An array that is saved as a base and runs, as an array."""
    return ArrayLog.read(tree[_ARRAY])[1] if isinstance(tree, dict) and _ARRAY in tree else tree


def _add_object(found: Exported, place: _Place, fields: Mapping[str, Tree]) -> None:
    """The arrays of an object are the lanes of one table, if they are of the same length."""
    lanes: dict[str, Lane] = {}
    for name, item in fields.items():
        if name == _POOL:
            _add_pool(found, place, item)
        elif isinstance(item, np.ndarray):
            lanes[name] = item
        elif isinstance(item, list | tuple) and item and all(isinstance(one, np.ndarray) for one in item):
            lanes |= {f"{name}.{i}": one for i, one in enumerate(item)}
        else:
            _add(found, place.below(name), item)
    if len({len(lane) if lane.ndim else -1 for lane in lanes.values()}) == 1:
        _add_lanes(found, place, lanes)
    else:
        for name, lane in lanes.items():
            _add_lanes(found, place.below(name), {"value": lane})


def _add_lanes(found: Exported, place: _Place, lanes: Mapping[str, Lane]) -> None:
    columns = {name: _column(lane) for name, lane in lanes.items()}
    rows = len(next(iter(columns.values())))
    if any(len(column) != rows for column in columns.values()):
        for name, lane in lanes.items():
            _add_lanes(found, place.below(name), {"value": lane})
        return
    known = {
        "stage": pa.array(np.full(rows, place.stage)),
        "shard": pa.array(np.full(rows, place.shard)),
        "group": pa.array([place.group] * rows, pa.string()),
        "operator": pa.array([place.operator] * rows, pa.string()),
        "part": pa.array([".".join(map(str, place.part))] * rows, pa.string()),
        "row": pa.array(np.arange(rows)),
    }
    name = ".".join(path_name(part) for part in (place.operator, *place.names))
    found.tables.setdefault(f"stage-{place.stage}/{name}", []).append(pa.table({**known, **columns}))


def _column(lane: Lane) -> pa.Array:
    """A lane as a column; bytes are one value, and an array of more dimensions has lists."""
    if lane.dtype == np.uint8:
        return pa.array([lane.tobytes()], pa.binary())
    if lane.ndim > 1:
        return pa.array(
            lane.reshape(len(lane), prod(lane.shape[1:])).tolist(), pa.list_(pa.from_numpy_dtype(lane.dtype))
        )
    return pa.array(np.atleast_1d(lane))


def _add_pool(found: Exported, place: _Place, tree: Tree) -> None:
    pool = StringPool()
    pool.restore(tree)
    codes = pool.codes()
    columns = {
        "stage": pa.array(np.full(len(codes), place.stage)),
        "shard": pa.array(np.full(len(codes), place.shard)),
        "group": pa.array([place.group] * len(codes), pa.string()),
        "where": pa.array([".".join([place.operator, *place.names])] * len(codes), pa.string()),
        "code": pa.array(codes),
        "text": pool.decode(codes),
    }
    found.strings.append(pa.table(columns))
