"""The catalogue of a flow: a log of commands, which says which queries run.

One JSON object per line of `queries.jsonl`, numbered from 1, written once and never changed:

    {"seq": 1, "command": "add", "id": "q1", "name": "busy", "owner": "ann", "cql": "SELECT ...", ...}
    {"seq": 2, "command": "drop", "id": "q1"}
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from thalweg.core.errors import DataError
from thalweg.core.time import Instant
from thalweg.flows.command import ADD, DROP, Command, check_name, find

FILE = "queries.jsonl"


class Catalogue:
    """The commands of a flow, in a folder or, without one, in memory. Several processes may use one folder.

    The id of a query is made of the number of the command that added it, so that no two queries ever have the same.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._path = None if self.folder is None else self.folder / FILE
        self._commands: list[Command] = []
        self._read = 0  # bytes
        self._live: dict[str, Command] = {}
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        self.refresh()

    @staticmethod
    def there(folder: str | Path) -> Catalogue:
        """The catalogue of a folder that must have one."""
        if not (Path(folder) / FILE).exists():
            raise DataError(f"{folder} is no flow: it has no {FILE}", hint="thalweg flow add FLOWDIR 'SELECT ...'")
        return Catalogue(folder)

    @property
    def live(self) -> dict[str, Command]:
        """The queries that are to run, by id, in the order in which they were added."""
        return dict(self._live)

    def after(self, seq: int) -> list[Command]:
        """The commands after the one with this number, as far as they have been read."""
        return self._commands[seq:]

    def find(self, query: str) -> str:
        """The id of the live query that has this id or name."""
        return find(self._live, query)

    def add(
        self,
        cql: str,
        name: str | None = None,
        owner: str | None = None,
        backfill: bool = False,
        quotas: dict[str, int] | None = None,
        today: Instant | None = None,
    ) -> Command:
        """Append the command that adds a query."""
        with self._appending() as log:
            seq = len(self._commands) + 1
            check_name(self._live, name)
            id_ = self._free_id(seq)
            return self._append(
                log, Command(seq, ADD, id_, name or id_, owner or "", cql, backfill, quotas or {}, today)
            )

    def drop(self, query: str) -> Command:
        """Append the command that drops a query."""
        with self._appending() as log:
            return self._append(log, Command(len(self._commands) + 1, DROP, self.find(query)))

    def refresh(self) -> None:
        """Read what other processes have appended."""
        if self._path is not None and self._path.exists():
            with self._path.open("rb") as log:
                self._read_on(log)

    # -- details

    def _free_id(self, seq: int) -> str:
        """`q` and the number; with an x added while another query has that name."""
        names = {command.name.casefold() for command in self._live.values()}
        return next(id_ for id_ in (f"q{seq}{'x' * n}" for n in range(len(names) + 1)) if id_ not in names)

    @contextmanager
    def _appending(self) -> Iterator[BinaryIO | None]:
        """Lock the log, and read what other processes have appended."""
        if self._path is None:
            yield None
            return
        with self._path.open("ab+") as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            self._read_on(log)
            log.truncate(self._read)  # drops a line that a process left incomplete when it died
            yield log

    def _append(self, log: BinaryIO | None, command: Command) -> Command:
        if log is not None:
            line = command.line().encode()
            log.write(line)
            log.flush()
            os.fsync(log.fileno())
            self._read += len(line)
        self._obey(command)
        return command

    def _read_on(self, log: BinaryIO) -> None:
        log.seek(self._read)
        for line in log:
            if not line.endswith(b"\n"):
                break
            self._obey(self._parse(line))
            self._read += len(line)

    def _parse(self, line: bytes) -> Command:
        place = len(self._commands) + 1
        try:
            command = Command.read(line)
        except (ValueError, TypeError) as error:
            raise DataError(
                f"{self._path}, line {place}: expected a command of a flow, got {line!r} ({error})"
            ) from None
        if command.seq != place or command.command not in (ADD, DROP):
            raise DataError(
                f"{self._path}, line {place}: expected command number {place}, got {command.command} {command.seq}",
                hint="the log is only ever appended to: restore it from a copy",
            )
        return command

    def _obey(self, command: Command) -> None:
        self._commands.append(command)
        if command.command == ADD:
            self._live[command.id] = command
        else:
            self._live.pop(command.id, None)
