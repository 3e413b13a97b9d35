"""The faults that a history draws, and where in the protocol they strike."""

from __future__ import annotations

import errno
import os
import random
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from faults.drawn import BATCHES


class Kind(StrEnum):
    """What can happen."""

    # to a task
    DIES_BEFORE = "a task dies before its step"
    DIES_WITHIN = "a task dies in the middle of its step"
    DIES_AFTER = "a task dies after its step"
    OUTPUT_LOST = "a task's output is lost, and it runs again"
    TWICE = "a task runs twice, one after the other"
    AT_ONCE = "a task runs twice at once"
    WAKES_LATER = "an old attempt wakes up later"
    CUT_SHORT = "a task sees only some of its messages"
    CUT_SHORT_AFTER = "a second attempt sees only some of its messages"
    REORDERED = "messages come again in another order"
    NO_SPACE = "the disk is full"
    READ_ONLY = "the folder is read-only"
    # to the driver
    DRIVER_PLANNED = "the driver dies after planning a batch"
    DRIVER_BETWEEN = "the driver dies between the stages"
    DRIVER_STEPS = "the driver dies after the steps"
    DRIVER_WRITTEN = "the driver dies after writing, before the commit"
    DRIVER_COMMITTED = "the driver dies after the commit"
    TAKE_OVER = "a second driver takes over"
    RESHARD = "a restart in another number of shards"
    CLOCK_BACK = "the system's clock jumps back"
    RE_READ = "the source reads a batch again"
    # to a file, before a restart
    FLIP = "a bit of a file is flipped"
    CUT_OFF = "a file is cut off"
    DELETE = "a file is deleted"


TO_TASKS = tuple(Kind)[: tuple(Kind).index(Kind.DRIVER_PLANNED)]
DAMAGES = (Kind.FLIP, Kind.CUT_OFF, Kind.DELETE)
DRIVER_DEATHS = {
    "planned": Kind.DRIVER_PLANNED,
    "between": Kind.DRIVER_BETWEEN,
    "steps": Kind.DRIVER_STEPS,
    "written": Kind.DRIVER_WRITTEN,
    "committed": Kind.DRIVER_COMMITTED,
}
DISK_ERRORS = {Kind.NO_SPACE: errno.ENOSPC, Kind.READ_ONLY: errno.EROFS}


class Fault(NamedTuple):
    """One fault: the step that it strikes, and a number that decides the rest (which change of a file, which file)."""

    kind: Kind
    batch: int
    stage: int
    shard: int
    number: int

    def __str__(self) -> str:
        return f"batch {self.batch}, stage {self.stage}, shard {self.shard}: {self.kind.value} ({self.number})"


def drawn_faults(draw: random.Random, stages: int, most: int) -> list[Fault]:
    """Some faults, in the order of their batches."""
    faults = []
    for _ in range(draw.randint(1, most)):
        kind = draw.choice(TO_TASKS if draw.random() < 0.5 else tuple(Kind))
        place = (draw.randrange(BATCHES), draw.randrange(stages), draw.randrange(3))
        faults.append(Fault(kind, *place, draw.randrange(1000)))
    return sorted(faults, key=lambda fault: fault.batch)


def disk_error(kind: Kind) -> OSError:
    """What the system says."""
    return OSError(DISK_ERRORS[kind], os.strerror(DISK_ERRORS[kind]))


def is_disk_error(message: str) -> bool:
    """Whether an error is about a disk that did not take what was written."""
    return any(os.strerror(number) in message for number in DISK_ERRORS.values())


def damage(folder: Path, kind: Kind, number: int, newest: int) -> Path | None:
    """Damage a file: mostly one of the state after batch `newest`; None if there is none yet."""
    draw = random.Random(number)
    files = sorted(p for p in folder.rglob("*") if p.is_file() and "spark" not in p.relative_to(folder).parts)
    files = [path for path in files if not path.name.startswith(".")]
    of_the_newest = [path for path in files if path.name.startswith((f"manifest-{newest}.", f"runs-{newest}-"))]
    if not files:
        return None
    path = draw.choice(of_the_newest if of_the_newest and draw.random() < 0.7 else files)
    content = path.read_bytes()
    if kind is Kind.DELETE or not content:
        path.unlink()
        return path
    place = draw.randrange(len(content))
    if kind is Kind.FLIP:
        content = content[:place] + bytes([content[place] ^ (1 << draw.randrange(8))]) + content[place + 1 :]
    else:
        content = content[:place]
    path.write_bytes(content)
    return path
