"""Plain aligned columns, and the metrics of operators in such columns or as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from thalweg.cli.output.values import as_text
from thalweg.core.visible import visible
from thalweg.runtime.local import LocalQuery

GAP = "  "

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


class Columns:
    """Lines of aligned cells; columns grow with their cells, numbers are aligned to the right."""

    def __init__(self, names: Sequence[str], numeric: Sequence[bool]) -> None:
        self._names = [visible(name) for name in names]
        self._numeric = list(numeric)
        self._widths = [len(name) for name in self._names]

    def header(self) -> str:
        """The line of the columns' names."""
        return self._line(self._names)

    def lines(self, rows: Sequence[Sequence[Any]]) -> list[str]:
        """One line per row, aligned with each other and with the rows before."""
        cells = [[visible(as_text(value)) for value in row] for row in rows]
        self._widths = [max([w, *(len(row[i]) for row in cells)]) for i, w in enumerate(self._widths)]
        return [self._line(row) for row in cells]

    def _line(self, cells: Sequence[str]) -> str:
        pairs = zip(cells, self._widths, self._numeric, strict=True)
        return GAP.join(cell.rjust(w) if right else cell.ljust(w) for cell, w, right in pairs).rstrip()


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
