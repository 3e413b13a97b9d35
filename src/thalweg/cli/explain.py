"""`thalweg explain`: the plan of every query in a file, with statistics from sampled rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

import click
import numpy as np
import pyarrow as pa

from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.algebra.statistics import SourceStatistics
from thalweg.cli.inputs import Inputs, parse_inputs
from thalweg.cli.output import console, json_text, say
from thalweg.cli.script import checked_queries, choose, read_script
from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.core.time import Clock
from thalweg.explain import choice_json, choice_text, explain_json, explain_text, plans_text
from thalweg.formats.recorded import arrivals, updates
from thalweg.optimizer.optimize import optimize
from thalweg.optimizer.statistics import Statistics, sampled_stream, sampled_table

ROWS_TO_SAMPLE = 100_000  # of each stream


@click.command(short_help="Show how the queries of a file run.")
@click.argument("file", metavar="FILE.cql")
@click.option("--json", "as_json", is_flag=True, help='Print a JSON list of {"name": ..., "plan": ...}.')
@click.option("--plans", is_flag=True, help="Show all plans that were compared, with their costs, and why one won.")
@click.option("--sample", "samples", metavar="NAME=PATH", multiple=True, callback=parse_inputs,
              help="Rows from which to measure the rates and sizes of a stream or table (repeatable).")  # fmt: skip
@click.option("--query", "wanted", metavar="NAME", multiple=True, help="Explain only this query (repeatable).")
def explain(file: str, as_json: bool, plans: bool, samples: list[tuple[str, str]], wanted: tuple[str, ...]) -> None:
    """Show how the queries of FILE.cql run; `-` reads standard input.

    For each operator: its update pattern (MON, WKS, WK or STR: how its results come and go), the buffer that holds
    its state, how large that can grow, and why. Then the plan that runs, with its estimated rates, sizes and costs, and
    the rewrites that led to it. The estimates come from declarations such as CREATE STREAM s (a INT DISTINCT 50)
    RATE 1000 PER SECOND, or from files given with --sample (in the formats of `thalweg replay --input`). No other data
    is read.

    --json prints a list, also for one query; each plan is an object with its inputs under "children".

    \b
    Examples:
      thalweg explain q.cql
      thalweg explain q.cql --query busy
      thalweg explain q.cql --plans
      thalweg explain q.cql --plans --sample s=rows.csv
      thalweg explain q.cql --json | python -m json.tool
      echo 'CREATE STREAM s (a INT); SELECT a FROM s' | thalweg explain -
    """
    catalog = Catalog()
    queries = choose(checked_queries(read_script(file), catalog), wanted)
    known = sampled(catalog, samples)
    if as_json:
        found = [
            {"name": q.name, "plan": explain_json(q.plan), "choice": choice_json(optimize(q.plan, known))}
            for q in queries
        ]
        click.echo(json_text(found, indent=2))
        return
    to = console()
    for i, query in enumerate(queries):
        if i:
            say(to, "")
        say(to, f"QUERY {query.name}", "bold")
        chosen = (plans_text if plans else choice_text)(optimize(query.plan, known))
        for line in f"{explain_text(query.plan)}\n{chosen}".rstrip("\n").split("\n"):
            say(to, line)


def sampled(catalog: Catalog, given: Sequence[tuple[str, str]], time_column: str = "ts") -> Statistics:
    """Statistics of the first rows of each stream, and of all rows of each table; bad rows are skipped."""
    files = Inputs(catalog, time_column, skip_bad_rows=True)
    for name, pattern in given:
        files.add(name, pattern)
    return Statistics({name: _of(files, name) for name in files.files})


def _of(files: Inputs, name: str) -> SourceStatistics:
    entry, paths, bad = files.catalog.get(name), files.files[name], files.bad[name]
    if isinstance(entry, Stream):
        found = chain.from_iterable(arrivals(entry, path, bad, files.time_column) for path in paths)
        events = list(islice(found, ROWS_TO_SAMPLE))
        times = np.array([event.ts for event in events], dtype=np.int64)
        return sampled_stream(_table(entry.schema, [event.row for event in events]), times)
    assert isinstance(entry, Relation), "Inputs has refused views"
    rows = [event.row for event in updates(entry, paths, bad, Clock.TIMESTAMPS)]
    return sampled_table(_table(entry.schema, rows), len(rows))


def _table(schema: Schema, rows: Sequence[Row]) -> pa.Table:
    columns = [pa.array([row[i] for row in rows], field.type.arrow) for i, field in enumerate(schema)]
    return pa.table(columns, names=list(schema.names))
