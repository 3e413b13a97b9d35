"""`thalweg run`: the queries of a file at work on Spark."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from thalweg.algebra.catalog import Catalog
from thalweg.cli.output import console, say
from thalweg.cli.script import checked_queries, choose, read_script
from thalweg.cli.sources import parse_sources
from thalweg.runtime.source import Source

DIFFERENT = 1  # exit code if --verify has found a wrong answer


@click.command(short_help="Run the queries of a file on Spark.")
@click.argument("file", metavar="FILE.cql")
@click.option("--source", "sources", metavar="NAME=KIND:WHERE", multiple=True, callback=parse_sources,
              help="Where the rows of a stream or table come from (repeatable).")  # fmt: skip
@click.option("--checkpoint", metavar="DIR", help="Where the queries keep their state; with it they can be resumed.")
@click.option(
    "--sink", "sinks", metavar="SINK", multiple=True, help="Where answers go (repeatable). [default: console]"
)
@click.option("--shards", metavar="N", type=click.IntRange(min=1),
              help="Parts of the state, for as many tasks. [default: as before, or cores]")  # fmt: skip
@click.option("--groups", metavar="N", type=click.IntRange(min=1),
              help="The most shards there can ever be; fixed at the first start. [default: 4 x shards]")  # fmt: skip
@click.option("--query", "wanted", metavar="NAME", multiple=True, help="Run only this query (repeatable).")
@click.option("--until-done", is_flag=True, help="End when all rows that are there now have been read.")
@click.option("--seconds", type=click.FloatRange(min=0), help="End after this many seconds.")
@click.option(
    "--take-over", is_flag=True, help="Go on though another driver holds the checkpoint; it can write no more."
)
@click.option("--verify", is_flag=True, help="Compare the answer regularly with the one-time query in Spark SQL.")
@click.option("--rows", "limit", metavar="N", default=20, show_default=True, help="Rows of an answer to show.")
def run(
    file: str,
    sources: dict[str, Source],
    checkpoint: str | None,
    sinks: tuple[str, ...],
    shards: int | None,
    groups: int | None,
    wanted: tuple[str, ...],
    until_done: bool,
    seconds: float | None,
    take_over: bool,
    verify: bool,
    limit: int,
) -> None:
    """Run the queries of FILE.cql on a local Spark. Ctrl-C stops them; the same command resumes them.

    A query may be resumed with another number of --shards; its answers stay the same.

    Standard output shows the changing answer, standard error a line of progress: the last micro-batch, the query's
    clock (its watermark: the time up to which the answer is exact), rows per second, how far the answer is behind, the
    tuples in the state, and how many rows were late or bad.

    \b
    --source NAME=KIND:WHERE?option=value&...
      csv:DIR json:DIR parquet:DIR  files moved there (pattern, files_per_batch)
      zeek:DIR lbl:DIR              logs (the same, and partitions)
      generator:NAME                made-up rows (rate, rows, speed, seed, ...)
      replay:FILE                   Parquet or CSV by its time (speed, ...)
      socket:HOST:PORT              JSON lines
      For every stream: idle=30 seconds (then the clock no longer waits for it),
      ahead=1 day (rows further ahead of the clock go to a side output),
      keep_late=needed (of late rows only the columns that are read; faster).
      A stream without TIMESTAMP BY has its time in a column ts. Tables are read
      from csv, json or parquet files, as they are when the query first starts.

    \b
    --sink
      console                       the answer as a table
      parquet:DIR                   all changes, with _ts, _exp and _sign
      sqlite:FILE?table=NAME        a table that holds the present answer
      postgres:ADDRESS?table=NAME   the same
      none                          no output; the checkpoint keeps the changes

    \b
    Examples:
      thalweg run q.cql --source 's=generator:connections?rate=5000&speed=1'
      thalweg run q.cql --source s=csv:rows/ --checkpoint state/ --until-done
      thalweg run q.cql --source s=csv:rows/ --checkpoint state/ --shards 8
      thalweg run q.cql --source s=zeek:/var/log/zeek --sink sqlite:answers.db
    """
    script = read_script(file)
    catalog = Catalog()
    queries = choose(checked_queries(script, catalog), wanted)
    import thalweg

    _ = thalweg.Engine  # raises with what to install, if pyspark is missing
    from thalweg.cli.spark.run_command import RunCommand

    with tempfile.TemporaryDirectory(prefix="thalweg-") as temporary:
        folder = Path(checkpoint or temporary).absolute()
        running = RunCommand(catalog, queries, sources, folder, shards, groups, sinks, limit, take_over)
        say(console(stderr=True), "starting Spark ...", "dim")
        ended, differs = running.run(until_done, seconds, verify)
        if not ended and checkpoint:
            say(console(stderr=True), f"stopped. To go on: thalweg run {file} ... --checkpoint {checkpoint}", "bold")
        elif not ended:
            say(console(stderr=True), "stopped. With --checkpoint DIR it could be resumed.", "bold")
    if differs:
        sys.exit(DIFFERENT)
