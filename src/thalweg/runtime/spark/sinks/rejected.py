"""Rows that a sink could not write because of their values: counted, and kept in files of the checkpoint.

A batch that is written again replaces its own rows. Beyond a quota rows are only counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.ingest.quota import QUOTA, Quota

REJECTED = "rejected"
REASON = "_reason"


@dataclass(frozen=True)
class RejectedCount:
    """How many rows a sink has rejected so far, and how many of them are kept; those of the last batch apart."""

    sink: str
    batch: int = -1
    rows: int = 0  # in that batch
    kept: int = 0
    bytes: int = 0
    rows_before: int = 0
    kept_before: int = 0
    bytes_before: int = 0

    @property
    def total(self) -> int:
        """All rows so far."""
        return self.rows_before + self.rows

    @property
    def not_kept(self) -> int:
        """Those that were only counted."""
        return self.total - self.kept_before - self.kept

    def begin(self, batch: int) -> RejectedCount:
        """Begin a batch, perhaps again."""
        if batch == self.batch:
            return RejectedCount(self.sink, batch, 0, 0, 0, self.rows_before, self.kept_before, self.bytes_before)
        before = (self.total, self.kept_before + self.kept, self.bytes_before + self.bytes)
        return RejectedCount(self.sink, batch, 0, 0, 0, *before)


@dataclass(frozen=True)
class RejectedRows:
    """The rejected rows of one sink."""

    folder: Path
    sink: str
    quota: Quota = QUOTA

    @classmethod
    def of(cls, side_outputs: Path, sink: str, quota: Quota = QUOTA) -> RejectedRows:
        """Those of a sink, in the folder of a checkpoint's side outputs."""
        name = quote(sink, safe=" ")
        if len(name) > 100:
            name = f"{name[:80]}-{blake2b(sink.encode(), digest_size=8).hexdigest()}"
        return cls(side_outputs / REJECTED / name, sink, quota)

    @classmethod
    def every(cls, side_outputs: Path) -> list[RejectedRows]:
        """Those of all sinks that have rejected a row."""
        found = sorted((side_outputs / REJECTED).glob("*/count.json"))
        return [cls(path.parent, json.loads(path.read_bytes())["sink"]) for path in found]

    @property
    def count(self) -> RejectedCount:
        """How many there were so far."""
        path = self.folder / "count.json"
        return RejectedCount(**json.loads(path.read_bytes())) if path.exists() else RejectedCount(self.sink)

    def keep(self, batch: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows that a batch could not write; before the batch is committed."""
        begun = self.count.begin(batch)
        table = pa.Table.from_pylist([dict(row) for row in rows])
        kept = self.quota.rest(table, begun.kept_before, begun.bytes_before)
        if kept.num_rows:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_file(sink, kept.schema) as writer:
                writer.write_table(kept)
            replace_file(self.folder / f"{batch}.arrow", sink.getvalue())
        tree = {**asdict(begun), "rows": len(rows), "kept": kept.num_rows, "bytes": kept.nbytes}
        replace_file(self.folder / "count.json", json.dumps(tree).encode())

    def rows(self) -> list[dict[str, Any]]:
        """The rows that were kept, in order of batches."""
        paths = sorted(self.folder.glob("*.arrow"), key=lambda path: int(path.stem))
        return [row for path in paths for row in pa.ipc.open_file(path.read_bytes()).read_all().to_pylist()]
