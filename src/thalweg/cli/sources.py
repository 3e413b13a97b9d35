"""`--source NAME=KIND:WHERE?option=value&...`: where a stream's or a table's rows come from on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

import click

from thalweg.core.errors import DataError, did_you_mean
from thalweg.runtime.source import KINDS, Source


def parse_sources(_: click.Context, __: click.Parameter, given: Sequence[str]) -> dict[str, Source]:
    """The sources by name, in lower case; two sources of the same name are an error."""
    found: dict[str, Source] = {}
    for text in given:
        source = parse_source(text)
        if source.name.casefold() in found:
            raise click.BadParameter(f"{source.name} has two sources")
        found[source.name.casefold()] = source
    return found


def parse_keys(_: click.Context, __: click.Parameter, given: Sequence[str]) -> dict[str, list[str]]:
    """The columns of `NAME=COLUMN,...`, by stream."""
    found: dict[str, list[str]] = {}
    for text in given:
        name, equals, columns = text.partition("=")
        if not (name and equals and columns):
            raise click.BadParameter(f"expected NAME=COLUMN,..., got {text!r}")
        found.setdefault(name.strip(), []).extend(column.strip() for column in columns.split(","))
    return found


def parse_source(text: str) -> Source:
    """The source that one `--source` names.

    >>> parse_source("s=generator:sensors?rate=50&rows=1000&idle=5 seconds").options
    {'rate': 50, 'rows': 1000, 'idle': '5 seconds'}
    """
    name, equals, rest = text.partition("=")
    kind, colon, where = rest.partition(":")
    if not (name and equals and colon and where):
        raise click.BadParameter(f"expected NAME=KIND:WHERE, got {text!r}")
    if kind not in KINDS:
        raise DataError(f"--source {text}: there is no kind {kind!r}", candidates=KINDS, hint=did_you_mean(kind, KINDS))
    where, _, options = where.partition("?")
    return Source(name.strip(), kind, where, {key: _value(value) for key, value in parse_qsl(options)})


def _value(text: str) -> Any:
    """The text as a number, if it is one."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
