"""Plain aligned columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thalweg.cli.output.values import as_text

GAP = "  "


class Columns:
    """Lines of aligned cells; columns grow with their cells, numbers are aligned to the right."""

    def __init__(self, names: Sequence[str], numeric: Sequence[bool]) -> None:
        self._names = list(names)
        self._numeric = list(numeric)
        self._widths = [len(name) for name in names]

    def header(self) -> str:
        """The line of the columns' names."""
        return self._line(self._names)

    def lines(self, rows: Sequence[Sequence[Any]]) -> list[str]:
        """One line per row, aligned with each other and with the rows before."""
        cells = [[as_text(value) for value in row] for row in rows]
        self._widths = [max([w, *(len(row[i]) for row in cells)]) for i, w in enumerate(self._widths)]
        return [self._line(row) for row in cells]

    def _line(self, cells: Sequence[str]) -> str:
        pairs = zip(cells, self._widths, self._numeric, strict=True)
        return GAP.join(cell.rjust(w) if right else cell.ljust(w) for cell, w, right in pairs).rstrip()
