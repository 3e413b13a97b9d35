"""The present answer as a table in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pyspark.sql import DataFrame
from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from thalweg.algebra.answer_order import ShownRow, answer_order
from thalweg.core.visible import visible
from thalweg.runtime.spark.sinks.base import SinkContext
from thalweg.runtime.spark.sinks.database import sqlite
from thalweg.runtime.spark.sinks.table import TableSink


class ConsoleSink:
    """Shows the answer after every batch: in place on a terminal; elsewhere one below the other, if it has changed.

    At most `limit` rows are shown, in the query's order. The answer is kept in a file of the checkpoint, so that a
    restarted query shows the whole answer. On a terminal `status` gives a line to show below. Where several
    queries share a terminal each needs a `title`.
    """

    def __init__(
        self,
        console: Console | None = None,
        limit: int = 20,
        status: Callable[[], str] = str,
        title: str = "",
    ) -> None:
        self.console = console or Console(markup=False, highlight=False, emoji=False)
        self._limit, self._status, self._title = limit, status, title
        self._context: SinkContext | None = None
        self._table: TableSink | None = None
        self._live: Live | None = None
        self._last: list[ShownRow] = []

    @property
    def in_place(self) -> bool:
        """Whether a table replaces the one before: on a terminal that shows a single answer."""
        return self.console.is_terminal and not self._title

    def open(self, context: SinkContext) -> None:
        """Open the table that keeps the answer."""
        self._context = context
        self._table = TableSink(sqlite(context.checkpoint.folder / "console.sqlite"), "answer")
        self._table.open(context)

    def write(self, changes: DataFrame, batch: int) -> None:
        """Apply the changes, and show the answer."""
        assert self._context is not None and self._table is not None
        self._table.write(changes, batch)
        self._show(self._context, batch, answer_order(self._context.plan, self._table.answer()))

    def is_transient(self, error: Exception) -> bool:
        """Whether the file that keeps the answer was locked."""
        return self._table is not None and self._table.is_transient(error)

    def close(self) -> None:
        """Stop drawing; the last table stays."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _show(self, context: SinkContext, batch: int, rows: list[ShownRow]) -> None:
        before, self._last = self._last, rows
        entered = set(rows).difference(before) if before else set()
        now = context.now(batch)
        title = f"{self._title} at " if self._title else "at "
        picture = draw(context, rows, entered, self._limit, title + context.clock.show(now))
        if not self.in_place:
            if rows != before:
                self.console.print(picture)
            return
        if self._live is None:
            self._live = Live(console=self.console, auto_refresh=False)
            self._live.start()
        self._live.update(Group(picture, Text(visible(self._status()), style="dim")), refresh=True)


def draw(
    context: SinkContext, rows: list[ShownRow], entered: Iterable[ShownRow], limit: int, when: str
) -> RenderableType:
    """The answer under its time; new rows are marked, and duplicates are counted."""
    marked = set(entered)
    counts = any(row[-1] != 1 for row in rows)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1))
    table.add_column("")
    for field in context.schema:
        table.add_column(Text(visible(field.name)), justify="right" if field.type.is_numeric else "left")
    if counts:
        table.add_column("times", justify="right")
    for row in rows[:limit]:
        cells = [Text(visible(_text(value))) for value in (row if counts else row[:-1])]
        table.add_row("+" if row in marked else " ", *cells, style="green" if row in marked else "")
    more = [Text(f" and {len(rows) - limit:,} more rows", style="dim")] if len(rows) > limit else []
    return Group(Text(visible(when), style="bold cyan"), table, *more)


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
