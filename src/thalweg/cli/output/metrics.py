"""Metrics of the operators of queries, as a table or as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from thalweg.cli.output.tables import Columns
from thalweg.runtime.local import LocalQuery

_HEADERS = {
    "operator": "operator",
    "batches": "batches",
    "positive_in": "+ in",
    "negative_in": "- in",
    "positive_out": "+ out",
    "negative_out": "- out",
    "messages_out": "messages",
    "premature": "premature",
    "stored": "tuples held",
    "bytes": "bytes held",
}


def metrics_lines(queries: Sequence[LocalQuery], as_json: bool) -> Iterator[str]:
    """One line per operator of each query, and one for the answer's delay."""
    for query in queries:
        yield from _json(query) if as_json else _table(query)


def _json(query: LocalQuery) -> Iterator[str]:
    for place, operator in enumerate(query.metrics().operators):
        yield json.dumps({"query": query.name, "place": place, **asdict(operator)})
    delay = query.delay()
    counted = {"changes": delay.changes, "average": delay.average, "maximum": delay.maximum}
    yield json.dumps({"query": query.name, "operator": "answer", "delay": counted})


def _table(query: LocalQuery) -> Iterator[str]:
    rows: list[list[Any]] = [[getattr(operator, key) for key in _HEADERS] for operator in query.metrics().operators]
    columns = Columns(list(_HEADERS.values()), [key != "operator" for key in _HEADERS])
    lines = columns.lines(rows)
    yield f"query {query.name}"
    yield from (f"  {line}" for line in [columns.header(), *lines])
    delay = query.delay()
    late = f"average {delay.average:.6g}, maximum {delay.maximum}"
    yield f"  output delay in ticks over {delay.changes} changes: {late}"
