"""Commands to a flow are files that Spark reads as a stream, so it knows which batch has read which of them."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from thalweg.flows.command import ADD, DROP, SUSPEND, Command
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint

_LOCK = ".lock"
_BEGIN = "begin.json"  # of the checkpoint


class Commands:
    """All commands to a flow, in a folder of its checkpoint. Several processes may add commands."""

    def __init__(self, checkpoint: Path) -> None:
        self.folder = Checkpoint(checkpoint).commands
        self.folder.mkdir(parents=True, exist_ok=True)
        self._begin = checkpoint / _BEGIN

    def all(self) -> list[Command]:
        """All commands in order."""
        lines = [line for path in sorted(self.folder.glob("[0-9]*.json")) for line in path.read_bytes().splitlines()]
        return [Command.read(json.loads(line)["command"]) for line in lines]

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
            known = [] if has_begun else [command.line() for command in self.all()]
            replace_file(self._begin, json.dumps(known).encode())
        return tuple(json.loads(self._begin.read_bytes()))

    @contextmanager
    def locked(self) -> Iterator[int]:
        """Keep other processes from adding commands, and give the number of the next one."""
        with (self.folder / _LOCK).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield max((int(path.stem) for path in self.folder.glob("[0-9]*.json")), default=0) + 1

    def add(self, *commands: Command) -> None:
        """Write commands to one file, named by the last one: one batch reads them all."""
        lines = [json.dumps({"command": command.line()}).encode() + b"\n" for command in commands]
        if commands:
            replace_file(self.folder / f"{commands[-1].seq:08d}.json", b"".join(lines))

    def suspend(self, failed: Mapping[str, str]) -> None:
        """Suspend queries that have failed in a shard, given with the reasons, unless they are suspended already."""
        with self.locked() as first:
            known, live = self.suspended(), self.live()
            new = [(query, why) for query, why in sorted(failed.items()) if query not in known and query in live]
            self.add(*(Command(first + i, SUSPEND, query, reason=why) for i, (query, why) in enumerate(new)))
