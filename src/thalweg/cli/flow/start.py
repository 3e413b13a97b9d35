"""`thalweg flow start`: recorded rows through all queries of a flow."""

from __future__ import annotations

from pathlib import Path

import click

from thalweg.cli.flow.watch import Watch, need_inputs
from thalweg.cli.inputs import Inputs, parse_inputs
from thalweg.cli.output import console, progress, say
from thalweg.cli.output.writers import JsonLinesWriter, TableWriter, Writer
from thalweg.cli.replay import one_clock, read_time, report, show_run
from thalweg.cli.script import read_script
from thalweg.cli.sources import parse_keys, parse_sources
from thalweg.core.errors import PlanError
from thalweg.flows.catalog import Catalogue
from thalweg.runtime.distributed.checkpoint.flow_desk import FlowDesk
from thalweg.runtime.local import Session
from thalweg.runtime.local.flow_query import LocalFlowQuery
from thalweg.runtime.local.replay import Replay
from thalweg.runtime.source import Source


@click.command(short_help="Run the queries of a flow over recorded rows.")
@click.argument("flowdir", metavar="FLOWDIR")
@click.argument("file", metavar="FILE.cql")
@click.option("--input", "inputs", metavar="NAME=PATH", multiple=True, callback=parse_inputs,
              help="Rows of a stream or table: a file, a folder or a quoted glob (repeatable).")  # fmt: skip
@click.option("--source", "sources", metavar="NAME=KIND:WHERE", multiple=True, callback=parse_sources,
              help="Rows of a stream or table on Spark, as for `thalweg run` (repeatable).")  # fmt: skip
@click.option("--key", "keys", metavar="NAME=COLUMN,...", multiple=True, callback=parse_keys,
              help="On Spark: partition a stream by these columns (repeatable); fixed at the first start.")  # fmt: skip
@click.option("--shards", metavar="N", type=click.IntRange(min=1),
              help="On Spark: parts of the state, for as many tasks; fixed at the first start.")  # fmt: skip
@click.option("--until-done", is_flag=True, help="On Spark: end when all rows that are there now have been read.")
@click.option("--seconds", type=click.FloatRange(min=0), help="On Spark: end after this many seconds.")
@click.option("--take-over", is_flag=True,
              help="On Spark: go on though another driver holds the flow; it can write no more.")  # fmt: skip
@click.option("--show", type=click.Choice(["changes", "final", "nothing"]), default="changes", show_default=True,
              help="What to print.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(["table", "jsonl"]), default="table", show_default=True,
              help="How to print it.")  # fmt: skip
@click.option("--until", metavar="T", help="Stop at T; time goes there even if the rows end before.")
@click.option("--time", "time_column", metavar="COLUMN", default="ts", show_default=True,
              help="The column of the files that holds the time, for streams without TIMESTAMP BY.")  # fmt: skip
@click.option("--bad-rows", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
              help="What to do with a row that cannot be read.")  # fmt: skip
@click.pass_obj
def start(
    watch_class: type[Watch] | None,
    flowdir: str,
    file: str,
    inputs: list[tuple[str, str]],
    sources: dict[str, Source],
    keys: dict[str, list[str]],
    shards: int | None,
    until_done: bool,
    seconds: float | None,
    take_over: bool,
    show: str,
    format_: str,
    until: str | None,
    time_column: str,
    bad_rows: str,
) -> None:
    """Run all queries of the flow in FLOWDIR together over recorded rows, in order of time, as `replay` does.

    FILE.cql declares the streams, tables and views. Queries may be added to FLOWDIR and dropped from it while the flow
    runs. A query that raises or exceeds a quota is suspended and reported on standard error; the others go on. The
    queries' costs and results are counted in FLOWDIR/metrics.json, for `thalweg flow top`.

    With --source the flow runs on Spark, and FLOWDIR is its checkpoint from then on, with the answers. Ctrl-C stops the
    flow; the same command resumes it. Standard error shows a line of progress.

    \b
    Examples:
      thalweg flow start alerts/ streams.cql --input s=rows.csv
      thalweg flow start alerts/ streams.cql --input s=rows.csv --show final --format jsonl
      thalweg flow start desk/ streams.cql --source s=csv:rows/ --key s=symbol
    """
    if sources:
        if inputs:
            raise click.UsageError("--input is for recorded rows here, --source for Spark: give one of them")
        _on_spark(flowdir, file, sources, keys, shards, until_done, seconds, take_over)
        return
    if FlowDesk.is_at(flowdir):
        raise PlanError(
            f"{flowdir} is the checkpoint of a flow on Spark",
            hint="go on with --source NAME=KIND:WHERE for its streams",
        )
    Catalogue.there(flowdir)
    session = _declared(file)
    flow = session.flow(Path(flowdir).name, folder=flowdir)
    files = Inputs(session.catalog, time_column, skip_bad_rows=bad_rows == "skip")
    for name, pattern in inputs:
        files.add(name, pattern)
    queries: list[LocalFlowQuery] = []
    watch = (watch_class or Watch)(flow, flowdir, queries, need_inputs(files))  # a test gives its own
    watch.look()
    if not queries:
        raise PlanError(f"the flow in {flowdir} has no query that can run", hint="thalweg flow list FLOWDIR")
    clock = one_clock(session, queries)
    to: Writer = TableWriter(queries, named=True) if format_ == "table" else JsonLinesWriter(queries, named=True)
    with progress(quiet=show != "changes") as show_progress:

        def look(rows: int) -> None:
            show_progress(rows)
            watch.look_now_and_then()

        rows = files.sources(queries, clock, unread=True)
        looked_at = queries if show == "changes" else []
        run = Replay(session, looked_at, rows, read_time(clock, "--until", until), look)
        if show == "nothing":
            run.finish()
        else:
            show_run(to, show, run, queries, None)
    watch.look(done=True)
    report(session, files, run)


def _on_spark(
    flowdir: str,
    file: str,
    sources: dict[str, Source],
    keys: dict[str, list[str]],
    shards: int | None,
    until_done: bool,
    seconds: float | None,
    take_over: bool,
) -> None:
    catalog = _declared(file).catalog
    import thalweg

    _ = thalweg.Engine  # raises with what to install, if pyspark is missing
    from thalweg.cli.spark.run_flow import run_flow

    say(console(stderr=True), "starting Spark ...", "dim")
    if not run_flow(Path(flowdir).absolute(), catalog, sources, keys, shards, until_done, seconds, take_over):
        say(console(stderr=True), f"stopped. To go on: thalweg flow start {flowdir} {file} ...", "bold")


def _declared(file: str) -> Session:
    """A session with the streams and tables of a file; a query in the file is an error."""
    script = read_script(file)
    session = Session()
    queries = session.execute(script.text, source=script.name)
    if queries:
        raise PlanError(
            f"{script.name} has the query {queries[0].name}, but the queries of a flow are in its folder",
            hint="thalweg flow add FLOWDIR 'SELECT ...'",
        )
    return session
