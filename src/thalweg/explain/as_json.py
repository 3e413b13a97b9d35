"""EXPLAIN as JSON: one object per operator, nested as the plan is."""

from __future__ import annotations

from typing import Any

from thalweg.algebra.plan import Plan
from thalweg.explain.describe import Described, answer_buffer, describe, output_in_words


def explain_json(plan: Plan) -> dict[str, Any]:
    """The root operator as a JSON object, its inputs under `children`; `output` and `answer` speak of the query."""
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
