"""Commands to a flow are files that Spark reads as a stream, so it knows which batch has read which of them.

Each command is one line with a checksum of its own, since it travels to the shards by itself. It names the command
before it, so that a file that was deleted, or lost its last lines, is noticed.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from thalweg.core.errors import CheckpointError
from thalweg.flows.command import ADD, DROP, SUSPEND, Command
from thalweg.runtime.distributed.checkpoint.checksums import (
    FROM_A_BACKUP,
    WRONG_SHAPE,
    damaged,
    open_json,
    sealed_json,
)
from thalweg.runtime.distributed.checkpoint.files import read_bytes, replace_file
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint

_LOCK = ".lock"
BEGIN = "begin.json"  # of the checkpoint
_VERSION = 2  # of lines and of begin.json; before that they had neither a version nor a checksum


def read_line(path: Path, line: bytes) -> tuple[Command, int | None]:
    """A line of a file of commands: the command, and the number of the one before, which older versions left out."""
    tree = open_json(path, line, _VERSION)
    try:
        if tree.keys() - {"version", "command", "before"}:
            raise ValueError("a line must have a command and nothing else")
        command, before = Command.read(tree["command"]), tree.get("before")
        if type(command.seq) is not int or not isinstance(before, int | None):
            raise TypeError("the number of a command must be a whole number")
        return command, before
    except WRONG_SHAPE as error:
        raise damaged(path, repr(error)) from error


class Commands:
    """All commands to a flow, in a folder of its checkpoint. Several processes may add commands."""

    def __init__(self, checkpoint: Path) -> None:
        self.folder = Checkpoint(checkpoint).commands
        self.folder.mkdir(parents=True, exist_ok=True)
        self._begin = checkpoint / BEGIN

    def all(self) -> list[Command]:
        """All commands in order; a CheckpointError if a file is damaged or missing."""
        found: list[Command] = []
        for path in self.files():
            for command, before in self.read_file(path):
                last = found[-1].seq if found else 0
                if before is not None and before != last:
                    raise _missing(self.folder, before, f"{path.name} follows it")
                found.append(command)
        return found

    @staticmethod
    def read_file(path: Path) -> list[tuple[Command, int | None]]:
        """The commands of one file, each with the number of the one before."""
        found = [read_line(path, line) for line in read_bytes(path).splitlines()]
        if not found or found[-1][0].seq != int(path.stem):
            raise damaged(path, f"it must end with command {int(path.stem)}, but does not")
        return found

    def check(self, obeyed: int) -> None:
        """Raise a CheckpointError unless all commands up to the last one that the flow has obeyed are there."""
        if max((command.seq for command in self.all()), default=0) < obeyed:
            raise _missing(self.folder, obeyed, "the flow has obeyed it")

    def files(self) -> list[Path]:
        """The files of commands, in order."""
        return sorted(path for path in self.folder.glob("[0-9]*.json") if path.stem.isdecimal())

    def live(self) -> dict[str, Command]:
        """By query that has not been dropped (it may be suspended), the command that added it."""
        live: dict[str, Command] = {}
        for command in self.all():
            if command.command == ADD:
                live[command.id] = command
            elif command.command == DROP:
                live.pop(command.id, None)
        return live

    def suspended(self) -> set[str]:
        """Queries that have failed, also those that have been dropped since."""
        return {command.id for command in self.all() if command.command == SUSPEND}

    def begin(self, has_begun: bool) -> tuple[str, ...]:
        """Commands given before the first start. That start writes them to begin.json; later ones read them there."""
        if not self._begin.exists():
            if has_begun:
                raise CheckpointError(
                    f"{self._begin} is missing; it has the queries that the flow was first started with",
                    hint=FROM_A_BACKUP,
                )
            known = [command.line() for command in self.all()]
            replace_file(self._begin, sealed_json({"version": _VERSION, "commands": known}))
        raw = read_bytes(self._begin)
        try:
            lines = open_json(self._begin, raw, _VERSION)["commands"] if raw[:1] != b"[" else json.loads(raw)
            for line in lines:
                Command.read(line)
            return tuple(lines)
        except WRONG_SHAPE as error:
            raise damaged(self._begin, repr(error)) from error

    @contextmanager
    def locked(self) -> Iterator[int]:
        """Keep other processes from adding commands, and give the number of the next one."""
        with (self.folder / _LOCK).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield max((int(path.stem) for path in self.files()), default=0) + 1

    def add(self, *commands: Command) -> None:
        """Write commands to one file, named by the last one: one batch reads them all."""
        if not commands:
            return
        before, lines = max((int(path.stem) for path in self.files()), default=0), list[bytes]()
        for command in commands:
            lines.append(sealed_json({"version": _VERSION, "command": command.line(), "before": before}) + b"\n")
            before = command.seq
        replace_file(self.folder / f"{commands[-1].seq:08d}.json", b"".join(lines))

    def suspend(self, failed: Mapping[str, str]) -> None:
        """Suspend queries that have failed in a shard, given with the reasons, unless they are suspended already."""
        with self.locked() as first:
            known, live = self.suspended(), self.live()
            new = [(query, why) for query, why in sorted(failed.items()) if query not in known and query in live]
            self.add(*(Command(first + i, SUSPEND, query, reason=why) for i, (query, why) in enumerate(new)))


def _missing(folder: Path, number: int, why: str) -> CheckpointError:
    return CheckpointError(f"the file with command {number} in {folder} is missing; {why}", hint=FROM_A_BACKUP)
