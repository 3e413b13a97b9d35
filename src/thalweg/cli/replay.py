"""`thalweg replay`: recorded rows through the queries of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import click

from thalweg.cli.inputs import Inputs, counted, parse_inputs
from thalweg.cli.output import FORMATS, Answer, Writer, answer_order, answers, console, progress, say, writer
from thalweg.cli.output.tables import metrics_lines
from thalweg.cli.script import checked_queries, choose, read_script
from thalweg.core.errors import PlanError
from thalweg.core.python_values import read_instant
from thalweg.core.time import Clock, Instant
from thalweg.runtime.local import Session
from thalweg.runtime.local.replay import Replay, ReplayedQuery, ReplayStep
from thalweg.runtime.local.session import STRATEGIES


@click.command(short_help="Run the queries of a file over recorded rows.")
@click.argument("file", metavar="FILE.cql")
@click.option("--input", "inputs", metavar="NAME=PATH", multiple=True, callback=parse_inputs,
              help="Rows of a stream or table: a file, a folder or a quoted glob (repeatable).")  # fmt: skip
@click.option("--show", type=click.Choice(["changes", "answers", "final"]), help="What to print. [default: changes]")
@click.option("--format", "format_", type=click.Choice(list(FORMATS)), default="table", show_default=True,
              help="How to print it.")  # fmt: skip
@click.option("--query", "wanted", metavar="NAME", multiple=True, help="Run only this query (repeatable).")
@click.option("--at", metavar="T", help="Print only the answer at T.")
@click.option("--until", metavar="T", help="Stop at T; time goes there even if the rows end before.")
@click.option("--limit", metavar="N", type=click.IntRange(min=0), help="Stop after N changes, or N answers.")
@click.option("--time", "time_column", metavar="COLUMN", default="ts", show_default=True,
              help="The column of the files that holds the time, for streams without TIMESTAMP BY.")  # fmt: skip
@click.option("--bad-rows", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
              help="What to do with a row that cannot be read.")  # fmt: skip
@click.option("--strategy", type=click.Choice(STRATEGIES), default="auto", show_default=True,
              help="How to run the queries.")  # fmt: skip
@click.option("--metrics", is_flag=True, help="Print metrics of each operator on standard error.")
def replay(
    file: str,
    inputs: list[tuple[str, str]],
    show: str | None,
    format_: str,
    wanted: tuple[str, ...],
    at: str | None,
    until: str | None,
    limit: int | None,
    time_column: str,
    bad_rows: str,
    strategy: str,
    metrics: bool,
) -> None:
    """Run the queries of FILE.cql over recorded rows, in order of time.

    The rows come from the files that --input names, the CQL from FILE.cql, or from standard input if that is `-`.

    \b
    --show changes  a line for each row that enters (+) or leaves (-) an answer
    --show answers  the whole answer after each instant that changed it
    --show final    the answer at the end

    \b
    Input files (.csv, .jsonl, .ndjson, .parquet, .log, .lbl) name their columns:
      CSV      has a header line; an empty cell is NULL
      jsonl    has one object per line; an absent name is NULL
      log      is a Zeek log, as text or JSON, perhaps .log.gz; id.orig_h is
               declared as id_orig_h
      lbl      is LBL-CONN-7's text, perhaps .lbl.gz; its columns are ts,
               duration, protocol, bytes_orig, bytes_resp, local_host,
               remote_host, state, flags
      streams  without TIMESTAMP BY have their time, an integer, in the column ts
               of the file (or see --time)
      tables   are there from the start; a column _at gives a row a time, _op an
               operation: + inserts (so does an empty cell), - deletes the row
               with that key, ~ replaces it
    Columns that were not declared are ignored.

    Several inputs are merged by time. Rows of a file may be out of order by as much as the stream's LATENESS allows;
    later rows are left out, and their number is printed on standard error.

    \b
    Output for programs:
      --format jsonl  {"t": ..., "sign": "+", columns ...} for changes,
                      {"t": ..., "rows": [...]} for answers;
                      "query" comes first if there are several
      --format csv    t, sign and columns, or t and columns; for one query
      Where two columns have one name, the second gets a number: a, a_2.

    \b
    Examples:
      thalweg replay q.cql --input s=rows.csv
      thalweg replay q.cql --input s='days/*.parquet' --input r=table.csv
      thalweg replay q.cql --input s=rows.jsonl --query busy --format csv
      thalweg replay q.cql --input s=rows.csv --at '2026-01-31 07:05:00'
    """
    if at is not None and (show or until):
        raise click.UsageError("--at prints one answer: leave out --show and --until")
    script = read_script(file)
    checked_queries(script)  # the session refuses the same queries, but without saying which
    session = Session()
    registered = session.execute(script.text, source=script.name, strategy=strategy)
    queries = choose(registered, wanted)
    for query in registered:
        if query not in queries:
            session.drop(query)
    clock = one_clock(session, queries)
    end = read_time(clock, "--until", until) if at is None else read_time(clock, "--at", at)
    files = Inputs(session.catalog, time_column, skip_bad_rows=bad_rows == "skip")
    for name, pattern in inputs:
        files.add(name, pattern)
    show = "final" if at is not None else show or "changes"
    to = writer(format_, queries)
    with progress(quiet=show == "final") as show_progress:
        run = Replay(session, [] if show == "final" else queries, files.sources(queries, clock), end, show_progress)
        show_run(to, show, run, queries, limit)
    report(session, files, run)
    for line in metrics_lines(queries, as_json=format_ != "table") if metrics else ():
        say(console(stderr=True), line)


def show_run(to: Writer, show: str, run: Replay, queries: Sequence[ReplayedQuery], limit: int | None) -> None:
    """Run to the end, or to the limit, and print the changes or answers."""
    if show == "changes":
        for query, changes in _first_changes(run.steps(), limit):
            to.changes(query, changes)
    else:
        found = answers(run.steps()) if show == "answers" else _final(run, queries)
        for query, t, rows in islice(found, limit):
            to.answer(query, t, rows)


def _first_changes(steps: Iterable[ReplayStep], limit: int | None) -> Iterator[ReplayStep]:
    left = limit
    for query, changes in steps:
        if left is not None:
            changes = changes[:left]
            left -= len(changes)
        yield ReplayStep(query, changes)
        if left == 0:
            return


def _final(run: Replay, queries: Sequence[ReplayedQuery]) -> Iterator[Answer]:
    run.finish()
    for query in queries:
        yield Answer(query, query.now if run.has_time else None, answer_order(query.plan, query.answer()))


def report(session: Session, files: Inputs, run: Replay) -> None:
    """Print on standard error how many rows were late or bad."""
    to = console(stderr=True)
    late = {stream.name: len(session.late(stream.name)) for stream in session.catalog.streams}
    for line in [f"{counted(n, 'late row')} on {name}" for name, n in late.items() if n] + files.complaints():
        say(to, line, "yellow")
    if not run.has_time:
        say(to, "no row says what time it is, so nothing changed; --show final prints the answer", "yellow")


def one_clock(session: Session, queries: Sequence[ReplayedQuery]) -> Clock:
    """The clock that all queries share; if they read only tables, the clock of the streams."""
    clocks = {query.plan.clock for query in queries} - {None}
    if len(clocks) > 1:
        raise PlanError(
            "some queries tick in integers and others in timestamps, so their inputs cannot be merged by time",
            candidates=[query.name for query in queries],
            hint="choose with --query",
        )
    found = clocks or {stream.clock for stream in session.catalog.streams}
    return Clock.TIMESTAMPS if found == {Clock.TIMESTAMPS} else Clock.TICKS


def read_time(clock: Clock, option: str, text: str | None) -> Instant | None:
    """The instant that an option names."""
    if text is None:
        return None
    is_number = clock is Clock.TICKS and text.strip().removeprefix("-").isdecimal()
    return read_instant(clock, int(text) if is_number else text, option)
