"""From `--sink` to sinks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs

from thalweg.core.errors import DataError, did_you_mean
from thalweg.runtime.spark.sinks import ParquetSink, Sink, TableSink, postgres, sqlite

KINDS = ("console", "none", "parquet", "sqlite", "postgres")


def outlets(given: Sequence[str], query: str, several: bool) -> list[Sink]:
    """The sinks that were asked for, but for the console; `several` queries get a folder or table each."""
    return [sink for text in given if (sink := _outlet(text, query, several)) is not None]


def shows_console(given: Sequence[str]) -> bool:
    """Whether the answer is to be shown: unless other sinks were named."""
    return not given or "console" in given


def _outlet(text: str, query: str, several: bool) -> Sink | None:
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
    """The address, and the table: the query's name unless it is given. What else follows `?` is the address's own."""
    address, _, options = where.partition("?")
    parts = [part for part in options.split("&") if part]
    named = parse_qs("&".join(part for part in parts if part.startswith("table=")))
    rest = [part for part in parts if not part.startswith("table=")]
    return address + ("?" + "&".join(rest) if rest else ""), named.get("table", [query])[-1]
