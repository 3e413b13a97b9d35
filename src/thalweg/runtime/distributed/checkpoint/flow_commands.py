"""Commands to a flow are files: Spark remembers which batch has seen which; run again, a batch sees the same."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from thalweg.flows.command import ADD, DROP, SUSPEND, Command
from thalweg.runtime.distributed.checkpoint.files import replace_file

COMMANDS = "commands"  # a folder of the checkpoint
_LOCK = ".lock"
_BEGIN = "begin.json"  # of the checkpoint


class Commands:
    """All that a flow has ever been told, in a folder of its checkpoint. Several processes may tell it something."""

    def __init__(self, checkpoint: Path) -> None:
        self.folder = checkpoint / COMMANDS
        self.folder.mkdir(parents=True, exist_ok=True)
        self._begin = checkpoint / _BEGIN

    def all(self) -> list[Command]:
        """In order."""
        lines = [line for path in sorted(self.folder.glob("[0-9]*.json")) for line in path.read_bytes().splitlines()]
        return [Command.read(json.loads(line)["command"]) for line in lines]

    def live(self) -> dict[str, Command]:
        """By query, the commands that added those that have not been dropped; suspended ones among them."""
        live: dict[str, Command] = {}
        for command in self.all():
            if command.command == ADD:
                live[command.id] = command
            elif command.command == DROP:
                live.pop(command.id, None)
        return live

    def suspended(self) -> set[str]:
        """Queries that have failed, those that have been dropped since among them."""
        return {command.id for command in self.all() if command.command == SUSPEND}

    def begin(self, has_begun: bool) -> tuple[str, ...]:
        """The commands that stand when the flow first starts, which is now unless it has begun; later, the same."""
        if not self._begin.exists():
            known = [] if has_begun else [command.line() for command in self.all()]
            replace_file(self._begin, json.dumps(known).encode())
        return tuple(json.loads(self._begin.read_bytes()))

    @contextmanager
    def telling(self) -> Iterator[int]:
        """Nobody else tells anything meanwhile; the number for the next command."""
        with (self.folder / _LOCK).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield max((int(path.stem) for path in self.folder.glob("[0-9]*.json")), default=0) + 1

    def tell(self, *commands: Command) -> None:
        """One file, called by the last command in it: files are read as a whole, so their commands go together."""
        lines = [json.dumps({"command": command.line()}).encode() + b"\n" for command in commands]
        if commands:
            replace_file(self.folder / f"{commands[-1].seq:08d}.json", b"".join(lines))

    def suspend(self, failed: Mapping[str, str]) -> None:
        """Queries that have failed, with the reasons; those that are known to have are not told again."""
        with self.telling() as first:
            told, live = self.suspended(), self.live()
            new = [(query, why) for query, why in sorted(failed.items()) if query not in told and query in live]
            self.tell(*(Command(first + i, SUSPEND, query, reason=why) for i, (query, why) in enumerate(new)))
