"""Manifests: the file that a shard writes after a batch.

A manifest has two lines: the first has the names of the run files and the shard's report, the second the state, which
few readers need. It is written atomically.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.core.errors import CheckpointError
from thalweg.core.time import BEGINNING, Instant
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.report import ShardReport

VERSION = 4

_OURS = re.compile(r"\.?(?:manifest|runs)-(\d+)[-.]")


class Weight(NamedTuple):
    """Of two states after the same batch the heavier counts: that of the later start, then that of more messages."""

    start: str
    messages: int


NO_WEIGHT = Weight("", 0)
NO_REPORT = ShardReport(BEGINNING)


@dataclass(frozen=True)
class Manifest:
    """The first line of a manifest."""

    batch: int
    attempt: str  # a unique name for each attempt at a batch
    files: tuple[str, ...]  # the run files that hold the state's arrays
    weight: Weight = NO_WEIGHT
    report: ShardReport = NO_REPORT

    def write(self, folder: Path, state: Any) -> None:
        """Write the manifest with the state, in which addresses stand for arrays."""
        rest = {
            "batch": self.batch,
            "files": list(self.files),
            "weight": list(self.weight),
            "report": self.report.to_json(),
        }
        lines = json.dumps(rest)[1:], json.dumps(state)
        replace_file(manifest_path(folder, self.batch), _head(self.attempt) + b", " + "\n".join(lines).encode())


def manifest_path(folder: Path, batch: int) -> Path:
    """The path of a manifest in the folder of a shard."""
    return folder / f"manifest-{batch}.json"


def manifest_batches(folder: Path) -> list[int]:
    """The batches of which a shard has manifests, in order."""
    return sorted(map(batch_of, folder.glob("manifest-*.json")))


def batch_of(path: Path) -> int:
    """The batch that a manifest or a run file belongs to, temporary names included."""
    found = _OURS.match(path.name)
    return int(found[1]) if found else sys.maxsize  # unknown file: never removed as old


def is_attempt(folder: Path, batch: int, attempt: str) -> bool:
    """Whether this attempt wrote the manifest of a batch."""
    head = _head(attempt)
    try:
        with manifest_path(folder, batch).open("rb") as file:
            return file.read(len(head)) == head
    except FileNotFoundError:
        return False


def read_manifest(folder: Path, batch: int) -> Manifest:
    """A shard's manifest without the state; a CheckpointError if it is missing or damaged."""
    return _read(folder, batch, with_state=False)[0]


def read_manifest_and_state(folder: Path, batch: int) -> tuple[Manifest, Any]:
    """The same with the state, in which addresses stand for arrays."""
    return _read(folder, batch, with_state=True)


def clock_after(folder: Path, batch: int) -> Instant:
    """The query's clock after a batch; `folder` is that of any shard of stage 0, for all have the same clock."""
    return BEGINNING if batch < 0 else read_manifest(folder, batch).report.now


def _read(folder: Path, batch: int, with_state: bool) -> tuple[Manifest, Any]:
    path = manifest_path(folder, batch)
    try:
        with path.open("rb") as file:
            tree: dict[str, Any] = json.loads(file.readline())
            if tree.get("version") != VERSION:
                raise CheckpointError(
                    f"{path} has format {tree.get('version')}, but this version of Thalweg reads format {VERSION}",
                    hint="go on with the version that wrote it, or start the query anew",
                )
            report, weight = ShardReport.from_json(tree["report"]), Weight(*tree["weight"])
            manifest = Manifest(tree["batch"], tree["attempt"], tuple(tree["files"]), weight, report)
            return manifest, json.loads(file.readline()) if with_state else None
    except FileNotFoundError:
        raise CheckpointError(
            f"the state after batch {batch} is not there: {path} is missing",
            hint="a file of the checkpoint was deleted; restore it, or start the query anew with another checkpoint",
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}", hint="restore the file from a backup") from error


def _head(attempt: str) -> bytes:
    """The first bytes of a manifest."""
    return f'{{"version": {VERSION}, "attempt": "{attempt}"'.encode()
