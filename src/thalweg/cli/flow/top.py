"""`thalweg flow top`: costs and results of the queries of a flow, from the file that the running flow writes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import click

from thalweg.cli.flow.folder import ReportedMetrics, folder_at
from thalweg.cli.output import console, json_text, say
from thalweg.cli.output.tables import Columns
from thalweg.core.errors import DataError

_HEADERS = {
    "id": "id",
    "name": "name",
    "owner": "owner",
    "state": "state",
    "seen": "tuples",
    "results": "results",
    "selectivity": "selectivity",
    "seconds": "cost, ms",
    "saved": "saved",
    "stored": "held",
}
_TEXTS = ("id", "name", "owner", "state")


@click.command(short_help="Show costs and results of the queries of a flow.")
@click.argument("flowdir", metavar="FLOWDIR")
@click.option("--watch", metavar="SECONDS", type=click.FloatRange(min=0.1), help="Repeat while the flow runs.")
@click.option("--json", "as_json", is_flag=True, help="Print the metrics as JSON.")
def top(flowdir: str, watch: float | None, as_json: bool) -> None:
    """Show the queries of the flow in FLOWDIR, the costliest first, with the metrics of the current or the last run.

    \b
    tuples       tuples that the query has read
    results      results that it has emitted
    selectivity  results per tuple
    cost         its part of the time spent; an operator's time is divided among the queries that share it
    saved        the part of its cost, had it run alone, that sharing with other queries has saved
    held         tuples in the state of its operators, including shared operators
    """
    while True:
        metrics = folder_at(flowdir).metrics()
        if metrics is None:
            raise DataError(f"the flow in {flowdir} has no metrics yet", hint="thalweg flow start FLOWDIR FILE.cql")
        if as_json:
            click.echo(json_text(metrics.as_json()))
        else:
            if watch is not None:
                click.clear()
            for line in _lines(metrics):
                say(console(), line)
        if watch is None or metrics.done:
            return
        time.sleep(watch)


def _lines(metrics: ReportedMetrics) -> Iterator[str]:
    queries = sorted(metrics.queries, key=lambda query: -query.seconds)
    stands = "the beginning" if metrics.now is None else metrics.now
    yield f"{len(queries)} queries at {stands}; {metrics.saved:.1%} of their work saved by sharing"
    columns = Columns(list(_HEADERS.values()), [key not in _TEXTS for key in _HEADERS])
    lines = columns.lines([[_cell(key, getattr(query, key)) for key in _HEADERS] for query in queries])
    yield from [columns.header(), *lines]
    for query in queries:
        if query.reason is not None:
            yield f"{query.id} is suspended: {query.reason}"


def _cell(key: str, value: Any) -> Any:
    match key, value:
        case _, None:
            return ""
        case "selectivity", _:
            return f"{value:.4g}"
        case "seconds", _:
            return f"{1000 * value:.3f}"
        case "saved", _:
            return f"{value:.1%}"
    return value
