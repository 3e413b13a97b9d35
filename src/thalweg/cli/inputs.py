"""`--input NAME=PATH`: which files feed which streams and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.core.errors import DataError, NameNotFoundError, did_you_mean
from thalweg.core.time import Clock
from thalweg.formats.recorded import BadRows, RecordedEvent, arrivals, find_files, updates
from thalweg.runtime.local.replay import ReplayedQuery


def parse_inputs(_: click.Context, __: click.Parameter, given: Sequence[str]) -> list[tuple[str, str]]:
    """Each `NAME=PATH` as its two parts."""
    pairs = [text.partition("=") for text in given]
    for name, _equals, path in pairs:
        if not name or not path:
            raise click.BadParameter(f"expected NAME=PATH, got {name + _equals + path!r}")
    return [(name.strip(), path) for name, _equals, path in pairs]


@dataclass
class Inputs:
    """The files of every stream and table that the queries read, and the rows that could not be read."""

    catalog: Catalog
    time_column: str = "ts"
    skip_bad_rows: bool = False
    files: dict[str, list[Path]] = field(default_factory=dict)
    bad: dict[str, BadRows] = field(default_factory=dict)

    def add(self, name: str, pattern: str) -> None:
        """Feed a stream or table from a file, a folder or a glob."""
        entry = self.catalog.get(name) if name in self.catalog else None
        if not isinstance(entry, Stream | Relation):
            names = [s.name for s in self.catalog.streams] + [r.name for r in self.catalog.relations]
            raise NameNotFoundError(
                f"--input {name}={pattern}: there is no stream or table called {name}",
                candidates=names,
                hint=did_you_mean(name, names),
            )
        self.files.setdefault(entry.name, []).extend(find_files(pattern))
        self.bad.setdefault(entry.name, BadRows(self.skip_bad_rows))

    def sources(
        self, queries: Sequence[ReplayedQuery], clock: Clock, unread: bool = False
    ) -> list[Iterable[RecordedEvent]]:
        """The recorded events of each stream and table that a query reads: every stream needs an input, a table none.

        With `unread`, also the events of streams and tables that have an input but no query.
        """
        others = {s.name for s in self.catalog.streams if unread and s.clock is clock and s.name in self.files}
        streams = [s for s in self.catalog.streams if s.name in others or any(q.reads(s.name) for q in queries)]
        read = [r for r in self.catalog.relations if unread or any(q.reads(r.name) for q in queries)]
        tables = [r for r in read if r.name in self.files]
        for stream in streams:
            if stream.name not in self.files:
                raise DataError(f"the stream {stream.name} has no input", hint=f"add --input {stream.name}=PATH")
        # Any order would do: an update and a tuple of the same instant meet whichever comes first.
        sources: list[Iterable[RecordedEvent]] = [
            updates(r, self.files[r.name], self.bad[r.name], clock) for r in tables
        ]
        for s in streams:
            sources += [arrivals(s, path, self.bad[s.name], self.time_column) for path in self.files[s.name]]
        return sources

    def complaints(self) -> list[str]:
        """One line for each stream or table that had bad rows."""
        return [
            f"{counted(bad.count, 'bad row')} skipped on {name}, the first: {bad.first.message}"
            for name, bad in self.bad.items()
            if bad.first is not None
        ]


def counted(n: int, thing: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"
