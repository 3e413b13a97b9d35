"""Rows that did not go into the query: too late, or no tuples at all. Counted, and kept in files of their own."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from thalweg.core.batch import Batch
from thalweg.core.lanes import from_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import unpack

LATE, BAD_ROWS = "late", "bad"


class Aside:
    """What a shard has put aside in a batch, and how much so far."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._new: dict[tuple[str, str], list[pa.Table]] = {}

    def late(self, source: str, tuples: Batch, schema: Schema, pool: StringPool) -> None:
        """Tuples that came behind the query's time."""
        self._put(LATE, source, _rows(tuples, schema, pool))

    def unmatched(self, relation: str, changes: Batch, schema: Schema, pool: StringPool) -> None:
        """Changes that were to take away rows that a table does not have."""
        reason = pa.array(["the table has no such row to take away"] * len(changes))
        self._put(BAD_ROWS, relation, _rows(changes, schema, pool).append_column("_reason", reason))

    def told(self, kind: str, blob: bytes | pa.Buffer) -> None:
        """Rows that a task that reads a source has kept back: no tuples, with the reason, or late ones, whole."""
        table = pa.Table.from_batches([unpack(blob)])
        source = table.column("_source")[0].as_py()
        self._put(kind, source, table.drop_columns(["_source"]))

    def _put(self, kind: str, source: str, table: pa.Table) -> None:
        key = f"{kind} {source}"
        self.counts[key] = self.counts.get(key, 0) + table.num_rows
        self._new.setdefault((kind, source), []).append(table)

    def write(self, checkpoint: Path, batch: int, shard: int, shards: int) -> None:
        """Keep what is new; a batch that is run again in as many shards writes the same files."""
        for (kind, source), tables in self._new.items():
            table = pa.concat_tables(tables, promote_options="permissive")
            sink = pa.BufferOutputStream()
            with pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
            replace_file(aside_folder(checkpoint, kind, source) / f"{batch}-{shard}-of-{shards}.arrow", sink.getvalue())
        self._new = {}


def _numbers(path: Path) -> tuple[int, int, int]:
    """Which batch, shard, and number of shards a file is of."""
    batch, shard, _, shards = path.stem.split("-")
    return int(batch), int(shard), int(shards)


def _rows(tuples: Batch, schema: Schema, pool: StringPool) -> pa.Table:
    columns = [from_lane(lane, field.type, pool) for lane, field in zip(tuples.columns, schema, strict=True)]
    return pa.table([*columns, pa.array(tuples.start)], names=[*schema.names, "_time"])


def aside_folder(checkpoint: Path, kind: str, source: str) -> Path:
    """Where rows of a source lie that were put aside."""
    return checkpoint / "aside" / kind / source


def read_aside(checkpoint: Path, kind: str, source: str) -> list[pa.Table]:
    """What has been put aside so far, in order of batches.

    A batch that was cut short, and then run in another number of shards, has left files of both; the second ones count.
    """
    paths = [*aside_folder(checkpoint, kind, source).glob("*-of-*.arrow")]
    layouts = Layouts.read(checkpoint) if paths else None
    tables = []
    for (batch, _, shards), path in sorted((_numbers(path), path) for path in paths):
        if layouts is None or layouts.at(batch).shards != shards:
            continue
        with pa.memory_map(str(path)) as source_file:
            tables.append(pa.ipc.open_file(source_file).read_all())
    return tables
