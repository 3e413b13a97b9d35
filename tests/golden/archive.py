"""A golden checkpoint is one small file: a folder with the checkpoint, and `case.json`, which says what it is of.

Golden files of all versions lie in folders named by version. Nothing in them depends on today's list of cases.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
VERSION = "0.1"  # of Thalweg, whose format new golden files have
CASE, CHECKPOINT = "case.json", "checkpoint"

Case = dict[str, Any]


def files() -> list[Path]:
    """The golden files of all versions."""
    return sorted(HERE.glob("*/*.tar.xz"))


def refused() -> list[Path]:
    """Golden files that no later version may go on from: what they hold could run code."""
    return sorted((HERE / "refused").glob("*/*.tar.xz"))


def pack(to: Path, case: Case, checkpoint: Path) -> None:
    """Write a golden file; the same folder always gives the same bytes."""
    to.parent.mkdir(exist_ok=True)
    with tarfile.open(to, "w:xz", preset=9) as archive:
        _add(archive, CASE, json.dumps(case).encode())
        for path in sorted(p for p in checkpoint.rglob("*") if p.is_file()):
            _add(archive, f"{CHECKPOINT}/{path.relative_to(checkpoint).as_posix()}", path.read_bytes())


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, BytesIO(content))


def unpack(file: Path, to: Path) -> tuple[Case, Path]:
    """What the file is of, and the checkpoint."""
    with tarfile.open(file) as archive:
        archive.extractall(to, filter="data")
    case: Case = json.loads((to / CASE).read_bytes())
    return case, to / CHECKPOINT


def objects_in(checkpoint: Path) -> Iterator[tuple[str, set[str]]]:
    """The objects that a checkpoint holds: their kinds, and the names of their fields."""
    for manifest in checkpoint.rglob("manifest-*.json"):
        yield from _objects(json.loads(manifest.read_bytes().splitlines()[1]))


def _objects(tree: Any) -> Iterator[tuple[str, set[str]]]:
    if isinstance(tree, dict):
        if "<kind>" in tree:
            yield tree["<kind>"], tree.keys() - {"<kind>"}
        tree = list(tree.values())
    for item in tree if isinstance(tree, list) else ():
        yield from _objects(item)


def keep_last(checkpoint: Path) -> None:
    """Remove what only the states before the last one need."""
    for last in checkpoint.rglob("manifest-*.json"):
        number = int(last.stem.partition("-")[2])
        others = [p for p in last.parent.glob("manifest-*.json") if int(p.stem.partition("-")[2]) > number]
        if others:
            last.unlink()
            continue
        named = json.loads(last.read_bytes().splitlines()[0])["files"]
        for run in last.parent.glob("runs-*.arrow"):
            if run.name not in named:
                run.unlink()
