"""`thalweg verify`: compares the answers of queries on Spark with the one-time queries in Spark SQL."""

from __future__ import annotations

import click

from thalweg.cli.run import run
from thalweg.cli.sources import parse_sources
from thalweg.runtime.source import Source


@click.command(short_help="Compare running queries with Spark SQL.")
@click.argument("file", metavar="FILE.cql")
@click.option("--source", "sources", metavar="NAME=KIND:WHERE", multiple=True, callback=parse_sources,
              help="Where the rows of a stream or table come from, as for `thalweg run` (repeatable).")  # fmt: skip
@click.option("--query", "wanted", metavar="NAME", multiple=True, help="Verify only this query (repeatable).")
@click.option("--shards", metavar="N", type=click.IntRange(min=1), help="Parts of the state. [default: cores]")
@click.option("--seconds", type=click.FloatRange(min=0), help="End after this many seconds, not after all rows.")
@click.pass_context
def verify(
    ctx: click.Context,
    file: str,
    sources: dict[str, Source],
    wanted: tuple[str, ...],
    shards: int | None,
    seconds: float | None,
) -> None:
    """Run the queries of FILE.cql; compare their answers with the one-time queries, regularly and at the end.

    A comparison takes the windows' contents at one instant from the rows of the source, runs the query over them once
    in Spark SQL, and expects the same bag of rows. It prints the outcome on standard error, with the rows that differ;
    the exit code is 1 if an answer was wrong. The source must be able to send its rows again: files, replayed tables
    and generators can, a socket cannot. Queries with ISTREAM, DSTREAM or RSTREAM have no one-time form.

    \b
    Examples:
      thalweg verify q.cql --source 's=generator:connections?rows=100000'
      thalweg verify q.cql --source s=csv:rows/ --query busy
    """
    ctx.invoke(
        run, file=file, sources=sources, sinks=("none",), wanted=wanted, shards=shards, seconds=seconds,
        until_done=seconds is None, verify=True,
    )  # fmt: skip
