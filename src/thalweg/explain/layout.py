"""Trees and tables as plain text that fits a screen."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

WIDTH = 120
_GAP = "  "
_NARROWEST_COLUMN = 12


def tree(
    node: T, label: Callable[[T], str], children: Callable[[T], Sequence[T]], first: str = "", rest: str = ""
) -> Iterator[tuple[str, T]]:
    """Each node with its label and branches; `first` is drawn before the node, `rest` before the nodes below it."""
    yield f"{first}{label(node)}", node
    below = children(node)
    for child in below:
        last = child is below[-1]
        yield from tree(child, label, children, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))


def table(lines: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Aligned columns, those in `right` right-aligned; the widest columns are cut until a line fits."""
    widths = _fit([max(map(len, column)) for column in zip(*lines, strict=True)])
    return [
        _GAP.join(_cell(text, w, i in right) for i, (text, w) in enumerate(zip(line, widths, strict=True))).rstrip()
        for line in lines
    ]


def entry(head: str, text: str) -> str:
    """A line under the tree, wrapped with an indent as wide as its head."""
    return textwrap.fill(text, WIDTH, initial_indent=f"{head} ", subsequent_indent=" " * (len(head) + 1))


def _fit(widths: list[int]) -> list[int]:
    widths = list(widths)
    while sum(widths) + len(_GAP) * (len(widths) - 1) > WIDTH and max(widths) > _NARROWEST_COLUMN:
        widths[widths.index(max(widths))] -= 1
    return widths


def _cell(text: str, width: int, right: bool) -> str:
    if len(text) > width:
        return text[: width - 1] + "…"
    return text.rjust(width) if right else text.ljust(width)
