"""Side outputs: rows that the query does not see because they came too late or are no tuples.

They are counted, and written to files of their own, up to a quota for each source; beyond it they are only counted.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from thalweg.core.batch import Batch
from thalweg.core.errors import CheckpointError, CheckpointWarning
from thalweg.core.lanes import from_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.runtime.distributed.checkpoint.checksums import sealed_arrow
from thalweg.runtime.distributed.checkpoint.files import read_stream, replace_file
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.checkpoint.report import (
    BAD_ROWS,
    LATE,
    SideOutput,
    named_counts,
    read_counts,
    side_output_counts,
)
from thalweg.runtime.distributed.exchange.codec import one_batch, pack, unpack
from thalweg.runtime.distributed.ingest.quota import QUOTA, Quota

_SOURCE = "_source"
_NAME = re.compile(r"\d+-\d+-of-\d+\.arrow")
_NOT_KEPT, _BYTES = "-not-kept", "-bytes"  # of a kind: rows that were only counted; bytes of the rows that were kept


class SideOutputs:
    """The side outputs of a shard: those of this batch, and how many rows there were so far.

    `quotas` are those of all shards together, by source. Late tuples come to the shard of their key, so a shard keeps
    its share of them; other rows come to one shard.
    """

    def __init__(self, quotas: Mapping[str, Quota] | None = None, shards: int = 1) -> None:
        self.counts: dict[SideOutput, int] = {}
        self._bytes: dict[SideOutput, int] = {}  # of the rows that were kept
        self._quotas, self._shards = quotas or {}, shards
        self._new: dict[SideOutput, list[pa.Table]] = {}

    def add_late(self, source: str, tuples: Batch, schema: Schema, pool: StringPool) -> None:
        """Tuples with a time before the query's clock."""
        self._add(LATE, source, _rows(tuples, schema, pool), self._quota(source).shared(self._shards))

    def add_unmatched(self, relation: str, changes: Batch, schema: Schema, pool: StringPool) -> None:
        """Deletions of rows that a table does not have."""
        reason = pa.array(["the table has no such row to take away"] * len(changes))
        rows = _rows(changes, schema, pool).append_column("_reason", reason)
        self._add(BAD_ROWS, relation, rows, self._quota(relation))

    def add_packed(self, kind: str, blob: bytes | pa.Buffer) -> None:
        """Rows that a task that reads a source has sent, packed by `pack_side_output`."""
        table = pa.Table.from_batches([unpack(blob)])
        source = table.column(_SOURCE)[0].as_py()
        self._add(kind, source, table.drop_columns([_SOURCE]), self._quota(source))

    def _quota(self, source: str) -> Quota:
        return self._quotas.get(source, QUOTA)

    def _add(self, kind: str, source: str, table: pa.Table, quota: Quota) -> None:
        """Count rows, and keep those that the quota has room for."""
        output, not_kept = SideOutput(kind, source), SideOutput(kind + _NOT_KEPT, source)
        before, size = self.counts.get(output, 0), self._bytes.get(output, 0)
        kept = quota.rest(table, before - self.counts.get(not_kept, 0), size)
        self.counts[output], self._bytes[output] = before + table.num_rows, size + kept.nbytes
        if kept.num_rows < table.num_rows:
            self.counts[not_kept] = self.counts.get(not_kept, 0) + table.num_rows - kept.num_rows
        if kept.num_rows:
            self._new.setdefault(output, []).append(kept)

    def snapshot(self) -> dict[str, int]:
        """All counts, by name."""
        sizes = {SideOutput(output.kind + _BYTES, output.source): size for output, size in self._bytes.items()}
        return named_counts({**self.counts, **sizes})

    def restore(self, tree: Mapping[str, int]) -> None:
        """Go on from a snapshot."""
        self.counts, self._bytes = {}, {}
        for (kind, source), count in read_counts(tree).items():
            if kind.endswith(_BYTES):
                self._bytes[SideOutput(kind.removesuffix(_BYTES), source)] = count
            else:
                self.counts[SideOutput(kind, source)] = count

    def write(self, checkpoint: Path, batch: int, shard: int, shards: int) -> None:
        """Write the rows of this batch; a batch that is run again in as many shards overwrites its files."""
        for output, tables in self._new.items():
            table = pa.concat_tables(tables, promote_options="permissive")
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            path = _folder(checkpoint, output) / f"{batch}-{shard}-of-{shards}.arrow"
            replace_file(path, sealed_arrow(sink.getvalue()))
        self._new = {}


def rows_by_source(counts: Mapping[SideOutput, int], kind: str) -> dict[str, int]:
    """All rows of a kind so far, kept or not, by source."""
    return {output.source: count for output, count in counts.items() if output.kind == kind}


def rows_not_kept(counts: Mapping[SideOutput, int], kinds: Iterable[str] = (LATE, BAD_ROWS)) -> dict[SideOutput, int]:
    """The rows that were only counted, because a quota was used up."""
    return {
        SideOutput(kind, source): count
        for kind in kinds
        for source, count in rows_by_source(counts, kind + _NOT_KEPT).items()
    }


def pack_side_output(rows: pa.Table, source: str) -> pa.Buffer:
    """Rows of a source as the blob of a message."""
    return pack(one_batch(rows.append_column(_SOURCE, pa.array([source] * rows.num_rows))))


def _folder(checkpoint: Path, output: SideOutput) -> Path:
    return Checkpoint(checkpoint).side_output(output.kind, output.source)


def read_side_output(checkpoint: Path, kind: str, source: str) -> list[pa.Table]:
    """The rows so far, in order of batches; a warning if fewer rows are there than were counted.

    A batch that was cut short, and then run in another number of shards, has left files of both runs; those of the
    second count.
    """
    output = SideOutput(kind, source)
    folder = _folder(checkpoint, output)
    paths = [path for path in folder.glob("*.arrow") if _NAME.fullmatch(path.name)]
    layouts = Layouts.read(checkpoint) if paths else None
    tables: list[pa.Table] = []
    last, done = Checkpoint(checkpoint).committed, 0
    for (batch, _, shards), path in sorted((_numbers(path), path) for path in paths):
        if layouts is None or layouts.at(batch).shards != shards:
            continue
        tables.append(read_stream(path))
        done += tables[-1].num_rows if batch <= last else 0
    counted = _counted(checkpoint, output)
    if counted > done:
        message = f"{folder} holds {done} of the {counted} rows that were counted: a file of it is missing"
        warnings.warn(message, CheckpointWarning, stacklevel=2)
    return tables


def side_output_rows(checkpoint: Path, kind: str, source: str) -> list[dict[str, Any]]:
    """The same as dictionaries; bytes that are no UTF-8, which Spark's strings may have, show as escapes."""
    return [row for table in read_side_output(checkpoint, kind, source) for row in _as_rows(table)]


def _as_rows(table: pa.Table) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = table.to_pylist()
    except UnicodeDecodeError:
        columns = [_readable(column) if pa.types.is_string(column.type) else column for column in table.columns]
        rows = pa.table(columns, names=table.column_names).to_pylist()
    return rows


def _readable(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    data = texts.cast(pa.binary()).to_pylist()
    return pa.chunked_array([[None if text is None else text.decode(errors="backslashreplace") for text in data]])


def _counted(checkpoint: Path, output: SideOutput) -> int:
    """The rows that the shards have counted up to the last committed batch, without those that a quota left out."""
    place = Checkpoint(checkpoint)
    try:
        reports = [report for stage in place.stages for report in place.reports(stage)]
    except CheckpointError:  # the rows can be read though the state cannot
        return 0
    counts = side_output_counts(reports)
    return counts.get(output, 0) - counts.get(SideOutput(output.kind + _NOT_KEPT, output.source), 0)


def _numbers(path: Path) -> tuple[int, int, int]:
    """The batch, the shard, and the number of shards that a file's name tells."""
    batch, shard, _, shards = path.stem.split("-")
    return int(batch), int(shard), int(shards)


def _rows(tuples: Batch, schema: Schema, pool: StringPool) -> pa.Table:
    columns = [from_lane(lane, field.type, pool) for lane, field in zip(tuples.columns, schema, strict=True)]
    return pa.table([*columns, pa.array(tuples.start)], names=[*schema.names, "_time"])
