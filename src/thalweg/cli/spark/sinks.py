"""The sinks that `--sink` names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs

from thalweg.core.errors import DataError, did_you_mean
from thalweg.runtime.spark.sinks import ParquetSink, Sink, TableSink, postgres, sqlite

KINDS = ("console", "none", "parquet", "sqlite", "postgres")


def parse_sinks(given: Sequence[str], query: str, several: bool) -> list[Sink]:
    """The given sinks, except for the console; each of `several` queries gets a folder or table of its own."""
    return [sink for text in given if (sink := _parse_sink(text, query, several)) is not None]


def shows_console(given: Sequence[str]) -> bool:
    """Whether to show the answer on the console: by default, or if it is given."""
    return not given or "console" in given


def _parse_sink(text: str, query: str, several: bool) -> Sink | None:
    kind, _, where = text.partition(":")
    match kind:
        case "console" | "none" if not where:
            return None
        case "parquet" if where:
            return ParquetSink(Path(where) / query if several else where)
        case "sqlite" | "postgres" if where:
            address, table = _table(text, where, query)
            return TableSink(sqlite(address) if kind == "sqlite" else postgres(address), table)
    raise DataError(
        f"--sink {text} is not understood",
        candidates=["console", "none", "parquet:FOLDER", "sqlite:FILE?table=NAME", "postgres:ADDRESS?table=NAME"],
        hint=did_you_mean(kind, KINDS),
    )


def _table(text: str, where: str, query: str) -> tuple[str, str]:
    """The address and the table, by default the query's name; other options after `?` stay in the address."""
    address, _, options = where.partition("?")
    parts = [part for part in options.split("&") if part]
    named = parse_qs("&".join(part for part in parts if part.startswith("table=")))
    rest = [part for part in parts if not part.startswith("table=")]
    return address + ("?" + "&".join(rest) if rest else ""), named.get("table", [query])[-1]
