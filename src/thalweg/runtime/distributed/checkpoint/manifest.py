"""Manifests: the file that a shard writes after a batch.

A manifest has two lines: the first has the names and checksums of the run files and the shard's report, the second the
state, which few readers need. The first line has checksums of itself and of the second. It is written atomically.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.core.errors import CheckpointError
from thalweg.core.time import BEGINNING, Instant
from thalweg.runtime.distributed.checkpoint.checksums import WRONG_SHAPE, Seal, damaged, open_json, sealed_json
from thalweg.runtime.distributed.checkpoint.files import not_read, replace_file
from thalweg.runtime.distributed.checkpoint.report import ShardReport

VERSION = 5
_WITHOUT_CHECKSUMS = 4  # the version before, which is still read

_RUN_FILE = re.compile(r"runs-\d+-[0-9a-f]{1,32}\.arrow")
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
    # By name the run files that hold the state's arrays; None for a file that an older version has written.
    files: Mapping[str, Seal | None] = field(default_factory=dict)
    weight: Weight = NO_WEIGHT
    report: ShardReport = NO_REPORT
    fence: int = 0  # of the driver whose task wrote it, see `lease.py`; older versions had none

    def write(self, folder: Path, state: Any) -> None:
        """Write the manifest with the state, in which addresses stand for arrays."""
        line = json.dumps(state).encode()
        first = {
            "version": VERSION,
            "attempt": self.attempt,
            "batch": self.batch,
            "fence": self.fence,
            "files": {name: list(seal or ()) for name, seal in self.files.items()},
            "weight": list(self.weight),
            "report": self.report.to_json(),
            "state": list(Seal.of(line)),
        }
        replace_file(manifest_path(folder, self.batch), sealed_json(first) + b"\n" + line)


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
            line, rest = file.readline(), file.read() if with_state else b""
    except FileNotFoundError:
        raise CheckpointError(
            f"the state after batch {batch} is not there: {path} is missing",
            hint="a file of the checkpoint was deleted; restore it, or start the query anew with another checkpoint",
        ) from None
    except OSError as error:
        raise not_read(path, error) from error
    first = open_json(path, line.rstrip(b"\n"), VERSION)
    if first.get("version") not in (VERSION, _WITHOUT_CHECKSUMS):
        raise CheckpointError(
            f"{path} has format {first.get('version')}, but this version of Thalweg reads format {VERSION}",
            hint="go on with the version that wrote it, or start the query anew",
        )
    try:
        manifest = _parsed(first)
        if manifest.batch != batch:
            raise ValueError(f"it is the manifest of batch {manifest.batch}")
        if not with_state:
            return manifest, None
        if "state" in first:
            Seal.read(first["state"]).check(path, rest)
        return manifest, json.loads(rest)
    except WRONG_SHAPE as error:
        raise damaged(path, error if isinstance(error, ValueError) else repr(error)) from error


def _parsed(first: Mapping[str, Any]) -> Manifest:
    """The first line; an error of `WRONG_SHAPE` if it is none."""
    start, messages = first["weight"]
    if first["version"] == VERSION:
        files: dict[str, Seal | None] = {name: Seal.read(seal) for name, seal in first["files"].items()}
    else:
        files = dict.fromkeys(first["files"])
    strange = next((name for name in files if not _RUN_FILE.fullmatch(name)), None)
    if strange is not None:
        raise ValueError(f"{strange!r} is no name of a run file")
    report, weight = ShardReport.from_json(first["report"]), Weight(str(start), int(messages))
    return Manifest(first["batch"], first["attempt"], files, weight, report, int(first.get("fence", 0)))


def _head(attempt: str) -> bytes:
    """The first bytes of a manifest."""
    return f'{{"version": {VERSION}, "attempt": "{attempt}"'.encode()
