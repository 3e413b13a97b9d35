"""`thalweg flow start`: recorded rows through all queries of a flow."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import click

from thalweg.algebra.plan import Plan, StreamScan
from thalweg.cli.flow.top import write_metrics
from thalweg.cli.inputs import Inputs, parse_inputs
from thalweg.cli.output import console, progress, say
from thalweg.cli.output.writers import JsonLinesWriter, TableWriter, Writer
from thalweg.cli.replay import one_clock, read_time, report, show_run
from thalweg.cli.script import read_script
from thalweg.core.errors import DataError, PlanError
from thalweg.flows.catalog import Catalogue
from thalweg.runtime.local import Session
from thalweg.runtime.local.flow import RUNNING, Flow
from thalweg.runtime.local.flow_query import FlowQuery
from thalweg.runtime.local.replay import Replay

EVERY = 0.5  # seconds between two looks at the catalogue


@click.command(short_help="Run the queries of a flow over recorded rows.")
@click.argument("flowdir", metavar="FLOWDIR")
@click.argument("file", metavar="FILE.cql")
@click.option("--input", "inputs", metavar="NAME=PATH", multiple=True, callback=parse_inputs,
              help="Rows of a stream or table: a file, a folder or a quoted glob (repeatable).")  # fmt: skip
@click.option("--show", type=click.Choice(["changes", "final", "nothing"]), default="changes", show_default=True,
              help="What to print.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(["table", "jsonl"]), default="table", show_default=True,
              help="How to print it.")  # fmt: skip
@click.option("--until", metavar="T", help="Stop at T; time goes there even if the rows end before.")
@click.option("--time", "time_column", metavar="COLUMN", default="ts", show_default=True,
              help="The column of the files that holds the time, for streams without TIMESTAMP BY.")  # fmt: skip
@click.option("--bad-rows", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
              help="What to do with a row that cannot be read.")  # fmt: skip
def start(
    flowdir: str,
    file: str,
    inputs: list[tuple[str, str]],
    show: str,
    format_: str,
    until: str | None,
    time_column: str,
    bad_rows: str,
) -> None:
    """Run all queries of the flow in FLOWDIR together over recorded rows, in order of time, as `replay` does.

    FILE.cql declares the streams, tables and views. Queries that are added to FLOWDIR meanwhile are taken up, those
    that are dropped end. A query that raises or exceeds a quota is suspended and reported on standard error; the others
    go on. What queries cost and give is written to FLOWDIR/metrics.json, for `thalweg flow top`.

    \b
    Examples:
      thalweg flow start alerts/ streams.cql --input s=rows.csv
      thalweg flow start alerts/ streams.cql --input s=rows.csv --show final --format jsonl
    """
    Catalogue.there(flowdir)
    session = _declared(file)
    flow = session.flow(Path(flowdir).name, flowdir)
    files = Inputs(session.catalog, time_column, skip_bad_rows=bad_rows == "skip")
    for name, pattern in inputs:
        files.add(name, pattern)
    queries: list[FlowQuery] = []
    watch = _Watch(flow, flowdir, queries, _need_inputs(files))
    watch.look()
    if not queries:
        raise PlanError(f"the flow in {flowdir} has no query that can run", hint="thalweg flow list FLOWDIR")
    clock = one_clock(session, queries)
    to: Writer = TableWriter(queries, named=True) if format_ == "table" else JsonLinesWriter(queries, named=True)
    with progress(quiet=show != "changes") as tell:

        def told(rows: int) -> None:
            tell(rows)
            watch.look_now_and_then()

        sources = files.sources(queries, clock, unread=True)
        looked_at = queries if show == "changes" else []
        run = Replay(session, looked_at, sources, read_time(clock, "--until", until), told)
        if show == "nothing":
            run.finish()
        else:
            show_run(to, show, run, queries, None)
    watch.look(done=True)
    report(session, files, run)


def _declared(file: str) -> Session:
    """A session with the streams and tables of a file, which has no queries of its own."""
    script = read_script(file)
    session = Session()
    queries = session.execute(script.text, script.name)
    if queries:
        raise PlanError(
            f"{script.name} has the query {queries[0].name}, but the queries of a flow are in its folder",
            hint="thalweg flow add FLOWDIR 'SELECT ...'",
        )
    return session


def _need_inputs(files: Inputs) -> Callable[[Plan], None]:
    """Refuses a query over a stream without rows, which would hold up the time of all others."""

    def accept(plan: Plan) -> None:
        for leaf in plan.walk():
            if isinstance(leaf, StreamScan) and leaf.source.name not in files.files:
                raise DataError(
                    f"the stream {leaf.source.name} has no input", hint=f"start with --input {leaf.source.name}=PATH"
                )

    return accept


class _Watch:
    """Keeps the list of queries that run up to date, and tells what becomes of them."""

    def __init__(self, flow: Flow, flowdir: str, queries: list[FlowQuery], accept: Callable[[Plan], None]) -> None:
        self._flow, self._flowdir, self._queries, self._accept = flow, flowdir, queries, accept
        self._reported: set[str] = set()
        self._looked = 0.0

    def look_now_and_then(self) -> None:
        """Take up what has been added and dropped; report who has been suspended."""
        if time.monotonic() - self._looked >= EVERY:
            self.look()
        else:
            self._list()

    def look(self, done: bool = False) -> None:
        """The same at once; `done` says that it is the last time."""
        if not done:
            self._flow.refresh(self._accept)
        self._list()
        write_metrics(self._flowdir, {**self._flow.top(), "done": done})
        self._looked = time.monotonic()

    def _list(self) -> None:
        found = self._flow.queries()
        self._queries[:] = [self._flow.query(q.id) for q in found if q.state == RUNNING]
        for query in found:
            if query.reason is not None and query.id not in self._reported:
                self._reported.add(query.id)
                say(console(stderr=True), f"{query.id} ({query.name}) is suspended: {query.reason}", "yellow")
