"""Commands to a flow are files: Spark remembers which batch has seen which; run again, a batch sees the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from thalweg.runtime.shards.files import replace_file
from thalweg.runtime.shards.flow_spec import Command


class Commands:
    """All that a flow has ever been told, in a folder of its checkpoint."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def all(self) -> list[Command]:
        """In order."""
        lines = [line for path in sorted(self.folder.glob("*.json")) for line in path.read_bytes().splitlines()]
        return [Command.read(json.loads(line)["command"]) for line in lines]

    def live(self) -> dict[str, Command]:
        """By query, the commands that added those that have not been dropped; suspended ones among them."""
        live: dict[str, Command] = {}
        for command in self.all():
            if command.adds is not None:
                live[command.id] = command
            elif command.suspends is None:
                live.pop(command.id, None)
        return live

    def next_number(self) -> int:
        """For the next command."""
        return max((int(path.stem) for path in self.folder.glob("*.json")), default=0) + 1

    def tell(self, *commands: Command) -> None:
        """One file, called by the last command in it: files are read as a whole, so their commands go together."""
        lines = [json.dumps({"command": command.text}).encode() + b"\n" for command in commands]
        if commands:
            replace_file(self.folder / f"{commands[-1].number:08d}.json", b"".join(lines))

    def suspend(self, failed: Mapping[str, str]) -> None:
        """Queries that have failed, with the reasons; those that are known to have are not told again."""
        told, live, first = {c.id for c in self.all() if c.suspends is not None}, self.live(), self.next_number()
        new = [(query, why) for query, why in sorted(failed.items()) if query not in told and query in live]
        self.tell(*(Command(first + i, query, None, suspends=why) for i, (query, why) in enumerate(new)))
