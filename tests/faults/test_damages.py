"""Would catch a damaged file that changes an answer, or that ends a query with an error that does not name the file.

Files of a checkpoint are damaged at random: a bit is flipped, the end is cut off, or the file is deleted. Then the
query goes on: with the right answer, or with an error that names the file. A failure prints the seed of its damage.
"""

from __future__ import annotations

import os
import random
import shutil
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.lives import FlowLife, Life, QueryLife
from strategies.effort import FAST, rounds
from thalweg.core.errors import CheckpointError, CheckpointWarning, SnapshotError

STOPPED, END = 7, 9  # batches before the damage, and in all
DAMAGES = ("flip", "cut", "delete")
SEED = int(os.environ.get("THALWEG_DAMAGE_SEED", "1"))
DRAWN = rounds(150)  # of each life; THALWEG_EXAMPLES=500 draws a thousand in all
PARTS = 5
LIVES: dict[str, Callable[[Path], Life]] = {"query": QueryLife, "flow": FlowLife}


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def damage(folder: Path, draw: random.Random) -> tuple[str, Path]:
    """Damage one file that is not Spark's, and say how."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and "spark" not in p.relative_to(folder).parts)
    path, kind = draw.choice(files), draw.choice(DAMAGES)
    content = path.read_bytes()
    if kind == "delete" or not content:
        path.unlink()
        return "delete", path
    if kind == "flip":
        place = draw.randrange(len(content))
        content = content[:place] + bytes([content[place] ^ (1 << draw.randrange(8))]) + content[place + 1 :]
    else:
        content = content[: draw.randrange(len(content))]
    path.write_bytes(content)
    return kind, path


def outcome(life: Life, path: Path, right: Life, kind: str) -> str:
    """How a life goes on after a damage; an AssertionError if it is silent, or raw."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            life.go_on(END)
            seen = life.seen()
        except (CheckpointError, SnapshotError) as error:
            assert names(str(error), path, kind), str(error)
            return "refused"
    for warning in warned:
        assert issubclass(warning.category, CheckpointWarning)
        assert names(str(warning.message), path, kind), str(warning.message)
    assert life.written == {batch: right.written[batch] for batch in life.written}
    if kind == "delete" and "side_outputs" in path.parts:
        assert seen == right.seen() or len(warned) == 1
        return "not needed"
    assert seen == right.seen()
    return "went back" if warned else "not needed"


def names(message: str, path: Path, kind: str) -> bool:
    """Whether a message says which file it is; of one that was deleted, nobody may know more than the folder."""
    return path.name in message or (kind == "delete" and str(path.parent) in message)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", LIVES)
def test_no_damage_is_silent(name: str, part: int, tmp_path: Path) -> None:
    right, stopped = LIVES[name](tmp_path / "right"), LIVES[name](tmp_path / "stopped")
    right.go_on(END)
    stopped.go_on(STOPPED)
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(part, DRAWN, PARTS):
        seed = f"{name}-{SEED}-{number}"
        folder = tmp_path / "damaged"
        shutil.copytree(stopped.checkpoint.folder, folder)
        kind, path = damage(folder, random.Random(seed))
        try:
            counts[outcome(LIVES[name](folder), path, right, kind), path.relative_to(folder).parts[0]] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {kind} {path.relative_to(folder)}: {error!r}") from error
        shutil.rmtree(folder)
    print(*sorted(counts.items()), sep="\n")
    assert FAST or {what for what, _ in counts} == {"refused", "went back", "not needed"}
