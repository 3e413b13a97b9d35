"""Side outputs: rows that did not go into the query because they came too late or are no tuples.

They are counted, and kept in files of their own.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from thalweg.core.batch import Batch
from thalweg.core.lanes import from_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import one_batch, pack, unpack

LATE, BAD_ROWS = "late", "bad"

_SOURCE = "_source"


class SideOutputs:
    """The side outputs of a shard: those of this batch, and how many rows there were so far."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}  # by kind and source: "late connections"
        self._new: dict[tuple[str, str], list[pa.Table]] = {}

    def add_late(self, source: str, tuples: Batch, schema: Schema, pool: StringPool) -> None:
        """Tuples with a time before the query's clock."""
        self._add(LATE, source, _rows(tuples, schema, pool))

    def add_unmatched(self, relation: str, changes: Batch, schema: Schema, pool: StringPool) -> None:
        """Deletions of rows that a table does not have."""
        reason = pa.array(["the table has no such row to take away"] * len(changes))
        self._add(BAD_ROWS, relation, _rows(changes, schema, pool).append_column("_reason", reason))

    def add_packed(self, kind: str, blob: bytes | pa.Buffer) -> None:
        """Rows that a task that reads a source has sent, packed by `pack_side_output`."""
        table = pa.Table.from_batches([unpack(blob)])
        source = table.column(_SOURCE)[0].as_py()
        self._add(kind, source, table.drop_columns([_SOURCE]))

    def _add(self, kind: str, source: str, table: pa.Table) -> None:
        key = f"{kind} {source}"
        self.counts[key] = self.counts.get(key, 0) + table.num_rows
        self._new.setdefault((kind, source), []).append(table)

    def write(self, checkpoint: Path, batch: int, shard: int, shards: int) -> None:
        """Write the rows of this batch; a batch that is run again in as many shards overwrites its files."""
        for (kind, source), tables in self._new.items():
            table = pa.concat_tables(tables, promote_options="permissive")
            sink = pa.BufferOutputStream()
            with pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
            path = side_output_folder(checkpoint, kind, source) / f"{batch}-{shard}-of-{shards}.arrow"
            replace_file(path, sink.getvalue())
        self._new = {}


def pack_side_output(rows: pa.Table, source: str) -> pa.Buffer:
    """Rows of a source as the blob of a message."""
    return pack(one_batch(rows.append_column(_SOURCE, pa.array([source] * rows.num_rows))))


def side_output_folder(checkpoint: Path, kind: str, source: str) -> Path:
    """The folder of a source's side output."""
    return checkpoint / "side_outputs" / kind / source


def read_side_output(checkpoint: Path, kind: str, source: str) -> list[pa.Table]:
    """The rows so far, in order of batches.

    A batch that was cut short, and then run in another number of shards, has left files of both runs; those of the
    second count.
    """
    paths = [*side_output_folder(checkpoint, kind, source).glob("*-of-*.arrow")]
    layouts = Layouts.read(checkpoint) if paths else None
    tables = []
    for (batch, _, shards), path in sorted((_numbers(path), path) for path in paths):
        if layouts is None or layouts.at(batch).shards != shards:
            continue
        with pa.memory_map(str(path)) as source_file:
            tables.append(pa.ipc.open_file(source_file).read_all())
    return tables


def _numbers(path: Path) -> tuple[int, int, int]:
    """The batch, the shard, and the number of shards that a file's name tells."""
    batch, shard, _, shards = path.stem.split("-")
    return int(batch), int(shard), int(shards)


def _rows(tuples: Batch, schema: Schema, pool: StringPool) -> pa.Table:
    columns = [from_lane(lane, field.type, pool) for lane, field in zip(tuples.columns, schema, strict=True)]
    return pa.table([*columns, pa.array(tuples.start)], names=[*schema.names, "_time"])
