"""EXPLAIN as plain text: the plan as a tree, one line per operator in aligned columns, then notes and a summary."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from thalweg.algebra.plan import Plan
from thalweg.explain.describe import Described, answer_buffer, describe, output_in_words, pattern_in_words
from thalweg.patterns import Bound, BufferChoice

WIDTH = 120
_GAP = "  "
_NARROWEST = 12


class _Line(NamedTuple):
    operator: str
    pattern: str
    buffer: str
    bound: str
    why: str


def explain_text(plan: Plan) -> str:
    """The annotated plan, at most 120 columns wide; reasons are numbered and stand below the tree."""
    described = describe(plan)
    notes = {why: f"[{n}]" for n, why in enumerate(dict.fromkeys(p.edge.why for p in described.walk()), start=1)}
    lines = [_Line("operator", "pattern", "buffer", "bound", "why"), *_tree(described, notes)]
    table = _table(lines)
    numbered = [_entry(number, why) for why, number in notes.items()]
    return "\n".join([*table, "", *_in_full(described, table), *numbered, "", *_summary(described)]) + "\n"


def _tree(plan: Described, notes: dict[str, str], first: str = "", rest: str = "") -> Iterator[_Line]:
    """One line per operator; `first` and `rest` are the branches drawn before it and before what hangs below it."""
    label = f"{first}{plan.node.label} {plan.node.detail}".rstrip()
    yield _Line(label, plan.edge.pattern.name, _buffers(plan.buffers), plan.bound.text, notes[plan.edge.why])
    for child in plan.children:
        last = child is plan.children[-1]
        yield from _tree(child, notes, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))


def _in_full(plan: Described, table: list[str]) -> Iterator[str]:
    """What was too long for its line in the tree."""
    shown = "\n".join(table)
    texts = dict.fromkeys(text for p in plan.walk() for text in (f"{p.node.label} {p.node.detail}", p.bound.text))
    cut = [text for text in texts if text.rstrip() not in shown]
    yield from (_entry("…  ", text) for text in cut)
    if cut:
        yield ""


def _buffers(chosen: tuple[BufferChoice, ...]) -> str:
    kinds = [choice.kind.value for choice in chosen]
    counts = {kind: kinds.count(kind) for kind in kinds}
    return " + ".join(f"{n} x {kind}" if n > 1 else kind for kind, n in counts.items()) or "-"


def _table(lines: list[_Line]) -> list[str]:
    widths = _fit([max(map(len, column)) for column in zip(*lines, strict=True)])
    return [_GAP.join(_cell(text, w) for text, w in zip(line, widths, strict=True)).rstrip() for line in lines]


def _fit(widths: list[int]) -> list[int]:
    """The widths, the greatest made smaller until a line fits."""
    widths = list(widths)
    while sum(widths) + len(_GAP) * (len(widths) - 1) > WIDTH and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _cell(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"


def _summary(plan: Described) -> Iterator[str]:
    yield _entry("pattern ", pattern_in_words(plan.edge))
    yield _entry("output  ", output_in_words(plan.edge))
    answer = answer_buffer(plan.edge)
    if answer is not None:
        yield _entry("expiry  ", plan.edge.expiry.meaning)
        yield _entry("answer  ", f"a view of it calls for: {answer.kind.value} ({answer.why})")
    unbounded: dict[Bound, list[str]] = {}
    for operator in plan.walk():
        if not operator.bound.bounded:
            unbounded.setdefault(operator.bound, []).append(operator.node.label)
    for bound, labels in unbounded.items():
        yield _entry("caution ", f"the state of {' and '.join(dict.fromkeys(labels))} is {bound.text}; {bound.way_out}")


def _entry(head: str, text: str) -> str:
    """A line under the tree, wrapped so that only the head stands at the margin."""
    return textwrap.fill(text, WIDTH, initial_indent=f"{head} ", subsequent_indent=" " * (len(head) + 1))
