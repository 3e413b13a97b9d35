"""Changes and answers in three formats: a table for people, JSON lines and CSV for programs."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from thalweg.cli.output.console import console, say
from thalweg.cli.output.tables import Columns
from thalweg.cli.output.values import as_json, as_text, json_text, unique
from thalweg.core.errors import PlanError
from thalweg.core.visible import visible
from thalweg.runtime.local.replay import ReplayedQuery, SignedRow

SIGNS = {+1: "+", -1: "-"}
STYLES = {+1: "green", -1: "red"}

Rows = Sequence[tuple[Any, ...]]


class Writer(Protocol):
    """Prints changes and answers of queries."""

    def changes(self, query: ReplayedQuery, changes: Sequence[SignedRow]) -> None:
        """Signed rows, with columns t, sign and the query's own."""

    def answer(self, query: ReplayedQuery, t: Any, rows: Rows) -> None:
        """The whole answer at `t` (None if the query's clock has not started)."""


class TableWriter:
    """Aligned columns; with several queries, each block is headed by its query's name."""

    def __init__(self, queries: Sequence[ReplayedQuery], named: bool = False) -> None:
        self._to = console()
        self._many = named or len(queries) > 1
        self._columns: dict[ReplayedQuery, Columns] = {}
        self._last: ReplayedQuery | None = None

    def changes(self, query: ReplayedQuery, changes: Sequence[SignedRow]) -> None:
        """One line per change; the header is printed again only after lines of another query."""
        if not changes:
            return
        if query not in self._columns:
            names = unique(["t", "sign", *query.schema.names])
            numeric = [False, False, *(f.type.is_numeric for f in query.schema)]
            self._columns[query] = Columns(names, numeric)
        columns = self._columns[query]
        lines = columns.lines([(t, SIGNS[sign], *row) for t, sign, row in changes])
        if query is not self._last:
            self._head(query)
            say(self._to, columns.header(), "bold")
        for line, (_, sign, _) in zip(lines, changes, strict=True):
            say(self._to, line, STYLES[sign])
        self._last = query

    def answer(self, query: ReplayedQuery, t: Any, rows: Rows) -> None:
        """A table headed by its instant."""
        if self._last is not None:
            say(self._to, "")
        columns = Columns(unique(query.schema.names), [f.type.is_numeric for f in query.schema])
        lines = columns.lines(rows)
        name = f"{query.name} at " if self._many else "at "
        say(self._to, f"{name}{as_text(t, 'the beginning')}: {len(rows)} row{'s' * (len(rows) != 1)}", "bold")
        for line in [columns.header(), *lines] if rows else []:
            say(self._to, f"  {line}")
        self._last = query

    def _head(self, query: ReplayedQuery) -> None:
        if self._last is not None:
            say(self._to, "")
        if self._many:
            say(self._to, f"{query.name}:", "bold")


class JsonLinesWriter:
    """One object per change or per answer; with several queries, `query` comes first."""

    def __init__(self, queries: Sequence[ReplayedQuery], named: bool = False) -> None:
        self._many = named or len(queries) > 1

    def changes(self, query: ReplayedQuery, changes: Sequence[SignedRow]) -> None:
        """`{"t": ..., "sign": "+", "src": ...}`."""
        start = {"query": query.name} if self._many else {}
        names = unique([*start, "t", "sign", *query.schema.names])[len(start) :]
        for t, sign, row in changes:
            values = (as_json(v) for v in (t, SIGNS[sign], *row))
            _print_json({**start, **dict(zip(names, values, strict=True))})

    def answer(self, query: ReplayedQuery, t: Any, rows: Rows) -> None:
        """`{"t": ..., "rows": [{"src": ...}, ...]}`."""
        start = {"query": query.name} if self._many else {}
        names = unique(query.schema.names)
        objects = [dict(zip(names, map(as_json, row), strict=True)) for row in rows]
        _print_json({**start, "t": as_json(t), "rows": objects})


class CsvWriter:
    """A header and rows; NULL is an empty cell. It takes one query only, for a CSV file has one header.

    A file or a pipe gets the exact text; a terminal gets characters that would steer it as escapes.
    """

    def __init__(self, queries: Sequence[ReplayedQuery]) -> None:
        if len(queries) > 1:
            raise PlanError(
                "CSV has one header, but there are several queries",
                candidates=[q.name for q in queries],
                hint="choose one with --query, or use --format jsonl",
            )
        self._csv = csv.writer(sys.stdout, lineterminator="\n")
        self._cell: Callable[[str], str] = visible if sys.stdout.isatty() else str
        self._headed = False

    def changes(self, query: ReplayedQuery, changes: Sequence[SignedRow]) -> None:
        """Columns t, sign and the query's own."""
        self._write(["t", "sign", *query.schema.names], [(t, SIGNS[sign], *row) for t, sign, row in changes])

    def answer(self, query: ReplayedQuery, t: Any, rows: Rows) -> None:
        """Columns t and the query's own; an empty answer prints no line."""
        self._write(["t", *query.schema.names], [(t, *row) for row in rows])

    def _write(self, names: Sequence[str], rows: Rows) -> None:
        if not self._headed:
            self._csv.writerow(map(self._cell, unique(names)))
            self._headed = True
        self._csv.writerows([self._cell(as_text(value, null="")) for value in row] for row in rows)


def _print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(json_text(value, allow_nan=False) + "\n")


FORMATS: dict[str, Callable[[Sequence[ReplayedQuery]], Writer]] = {
    "table": TableWriter,
    "jsonl": JsonLinesWriter,
    "csv": CsvWriter,
}


def writer(format: str, queries: Sequence[ReplayedQuery]) -> Writer:
    """The writer called `format`, for these queries."""
    return FORMATS[format](queries)
