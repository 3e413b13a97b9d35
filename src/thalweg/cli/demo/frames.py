"""The pictures of the demo: at each instant, every query's answer and what entered and left it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from thalweg.algebra.plan import TopK
from thalweg.cli.output import Answer, as_text
from thalweg.core.visible import visible
from thalweg.runtime.local import LocalQuery

BAR = 16  # characters of the longest bar


class Frame(NamedTuple):
    """All answers at `t`, each with the answer before it."""

    t: Any
    answers: list[tuple[Answer, Answer]]


def frames(found: Iterable[Answer], queries: Sequence[LocalQuery]) -> list[Frame]:
    """One frame for each instant at which any answer changed."""
    by_instant: dict[Any, dict[str, Answer]] = {}
    for answer in found:
        by_instant.setdefault(answer.t, {})[answer.query.name] = answer
    last = {query.name: Answer(query, None, []) for query in queries}
    pictures = []
    for t in sorted(by_instant):
        now = {**last, **by_instant[t]}
        pictures.append(Frame(t, [(last[name], now[name]) for name in last]))
        last = now
    return pictures


def draw(frame: Frame) -> RenderableType:
    """A frame as rich shows it: the clock above the answers side by side."""
    side_by_side = Table.grid(padding=(0, 6, 0, 0))
    side_by_side.add_row(*(_panel(before, now) for before, now in frame.answers))
    return Group(Text(as_text(frame.t), style="bold cyan"), side_by_side)


def _panel(before: Answer, now: Answer) -> Table:
    """An answer: rows with a new value in the first column are marked, values that left are listed below."""
    old, new = ([row[0] for row in answer.rows] for answer in (before, now))
    left = [visible(as_text(key)) for key in old if key not in new]
    table = Table(
        title=Text(visible(now.query.name)),
        title_justify="left",
        title_style="bold",
        caption=Text(" - " + ", ".join(left), style="red") if left else Text(" "),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1),
    )
    table.add_column("")
    ranked = isinstance(now.query.plan, TopK)
    for field in now.query.schema:
        table.add_column(Text(visible(field.name)), justify="right" if field.type.is_numeric else "left", min_width=8)
    if ranked:
        table.add_column("", min_width=BAR)
    most = max((row[-1] for row in now.rows), default=0) if ranked else 0
    for row in now.rows:
        entered = row[0] not in old
        cells = [f"{v:,}" if isinstance(v, int) else Text(visible(as_text(v))) for v in row]
        bar = [_bar(row[-1], most)] if ranked else []
        table.add_row("+" if entered else "", *cells, *bar, style="green" if entered else "")
    return table


def _bar(value: float, most: float) -> str:
    return "█" * max(1, round(BAR * value / most)) if most else ""
