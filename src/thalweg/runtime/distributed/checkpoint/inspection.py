"""Read-only inspection of checkpoints, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.runtime.distributed.checkpoint.files import ArrayFile
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import Layout
from thalweg.runtime.distributed.checkpoint.manifest import Manifest, read_manifest, read_manifest_and_state
from thalweg.runtime.distributed.checkpoint.query_file import QUERY_FILE, QueryFile, no_checkpoint
from thalweg.runtime.distributed.checkpoint.report import ShardReport, SideOutput, named_counts, side_output_counts

_SHOWN_VALUES = 8  # of an array


@dataclass(frozen=True)
class Shard:
    """One shard of one stage after the last committed batch."""

    stage: int
    shard: int
    folder: Path
    manifest: Manifest

    @property
    def report(self) -> ShardReport:
        """The shard's report about itself."""
        return self.manifest.report

    @property
    def size(self) -> int:
        """Bytes on disk."""
        files = self.manifest.files.items()
        return sum((self.folder / name).stat().st_size if seal is None else seal.size for name, seal in files)

    def as_tree(self) -> dict[str, Any]:
        """For programs."""
        files = list(self.manifest.files)
        own = {"stage": self.stage, "shard": self.shard}
        return {**own, **self.report.to_json(), "bytes": self.size, "files": files}

    def arrays(self) -> list[dict[str, Any]]:
        """Every array: where it belongs, its type and length, and its first values."""
        files = {name: ArrayFile(self.folder / name, seal) for name, seal in self.manifest.files.items()}
        found = []
        _, state = read_manifest_and_state(self.folder, self.manifest.batch)
        for where, (name, place) in _addresses(state, ""):
            array = files[name][place]
            first = array.ravel()[:_SHOWN_VALUES].tolist()
            found.append({"where": where, "dtype": str(array.dtype), "length": int(array.size), "first": first})
        return found


def checkpoints(folder: Path) -> list[Checkpoint]:
    """The checkpoint in a folder, or those in the folders below it."""
    places = [folder, *sorted(path.parent for path in folder.glob(f"*/{QUERY_FILE}"))]
    found = [Checkpoint(place) for place in places if QueryFile.is_in(place)]
    if not found:
        raise no_checkpoint(folder)
    return found


@dataclass(frozen=True)
class CheckpointSummary:
    """A checkpoint as a whole."""

    checkpoint: str
    plan: str
    strategy: str
    batches: int
    groups: int
    layouts: tuple[Layout, ...]
    stamped: bool
    side_outputs: Mapping[SideOutput, int]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        layouts = [vars(layout) for layout in self.layouts]
        return {**vars(self), "layouts": layouts, "side_outputs": named_counts(self.side_outputs)}


def summary(checkpoint: Checkpoint) -> CheckpointSummary:
    """The query of a checkpoint, the batches that it has committed, and the rows in its side outputs."""
    identity, layouts = checkpoint.query_file.identity, checkpoint.layouts
    reports = [shard.report for shard in shards(checkpoint)]
    return CheckpointSummary(
        str(checkpoint.folder),
        identity.plan,
        identity.strategy,
        checkpoint.committed + 1,
        layouts.groups,
        layouts.history,
        any(report.stamped for report in reports),
        side_output_counts(reports),
    )


def shards(checkpoint: Checkpoint) -> list[Shard]:
    """All shards of all stages after the last committed batch; none before the first."""
    done = checkpoint.committed
    if done < 0:
        return []
    return [
        Shard(stage, shard, folder, read_manifest(folder, done))
        for stage in checkpoint.stages
        for shard, folder in enumerate(checkpoint.shards(done, stage))
    ]


def _addresses(tree: Any, where: str) -> Iterator[tuple[str, tuple[str, int]]]:
    match tree:
        case {"@": [name, place]}:
            yield where, (name, place)
        case {"()": items} | list(items):
            for i, item in enumerate(items):
                yield from _addresses(item, f"{where}.{i}" if where else str(i))
        case dict():
            for key, item in tree.items():
                yield from _addresses(item, f"{where}.{key}" if where else key)
