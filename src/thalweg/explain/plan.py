"""EXPLAIN of a plan: as text, a tree with one line per operator, notes and a summary; or as nested JSON objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from thalweg.algebra.plan import Plan
from thalweg.explain.describe import Described, answer_buffer, describe, output_in_words, pattern_in_words
from thalweg.explain.layout import entry, table, tree
from thalweg.patterns import BufferChoice, StateBound


class _Line(NamedTuple):
    operator: str
    pattern: str
    buffer: str
    bound: str
    why: str


def explain_text(plan: Plan) -> str:
    """The plan with patterns, buffers and bounds, at most 120 characters wide; numbered reasons follow the tree."""
    described = describe(plan)
    notes = {why: f"[{n}]" for n, why in enumerate(dict.fromkeys(p.edge.why for p in described.walk()), start=1)}
    drawn = tree(described, _label, lambda each: each.children)
    lines = [_Line("operator", "pattern", "buffer", "bound", "why"), *(_line(*each, notes) for each in drawn)]
    shown = table(lines)
    numbered = [entry(number, why) for why, number in notes.items()]
    return "\n".join([*shown, "", *_in_full(described, shown), *numbered, "", *_summary(described)]) + "\n"


def _line(label: str, plan: Described, notes: dict[str, str]) -> _Line:
    return _Line(label, plan.edge.pattern.name, _buffers(plan.buffers), plan.bound.text, notes[plan.edge.why])


def _label(plan: Described) -> str:
    return f"{plan.node.label} {plan.node.detail}".rstrip()


def _in_full(plan: Described, lines: list[str]) -> Iterator[str]:
    """Labels and bounds that were too long for their line in the tree."""
    shown = "\n".join(lines)
    texts = dict.fromkeys(text for p in plan.walk() for text in (f"{p.node.label} {p.node.detail}", p.bound.text))
    cut = [text for text in texts if text.rstrip() not in shown]
    yield from (entry("…  ", text) for text in cut)
    if cut:
        yield ""


def _buffers(chosen: tuple[BufferChoice, ...]) -> str:
    kinds = [choice.kind.value for choice in chosen]
    counts = {kind: kinds.count(kind) for kind in kinds}
    return " + ".join(f"{n} x {kind}" if n > 1 else kind for kind, n in counts.items()) or "-"


def _summary(plan: Described) -> Iterator[str]:
    yield entry("pattern ", pattern_in_words(plan.edge))
    yield entry("output  ", output_in_words(plan.edge))
    answer = answer_buffer(plan.edge)
    if answer is not None:
        yield entry("expiry  ", plan.edge.expiry.meaning)
        yield entry("answer  ", f"a view of it calls for: {answer.kind.value} ({answer.why})")
    unbounded: dict[StateBound, list[str]] = {}
    for operator in plan.walk():
        if not operator.bound.bounded:
            unbounded.setdefault(operator.bound, []).append(operator.node.label)
    for bound, labels in unbounded.items():
        yield entry("caution ", f"the state of {' and '.join(dict.fromkeys(labels))} is {bound.text}; {bound.way_out}")


def explain_json(plan: Plan) -> dict[str, Any]:
    """The root operator as a JSON object, with its inputs under `children`; `output` and `answer` are the query's."""
    described = describe(plan)
    answer = answer_buffer(described.edge)
    return {
        "output": output_in_words(described.edge),
        "answer": None if answer is None else answer.kind.value,
        **_operator(described),
    }


def _operator(plan: Described) -> dict[str, Any]:
    return {
        "operator": plan.node.label,
        "detail": plan.node.detail,
        "pattern": plan.edge.pattern.name,
        "expiry": plan.edge.expiry.name,
        "why": plan.edge.why,
        "buffer": [{"kind": b.kind.value, "holds": b.holds.value, "why": b.why} for b in plan.buffers],
        "bound": plan.bound.text,
        "bounded": plan.bound.bounded,
        "way_out": plan.bound.way_out,
        "schema": [{"name": f.name, "type": str(f.type)} for f in plan.node.schema],
        "children": [_operator(child) for child in plan.children],
    }
