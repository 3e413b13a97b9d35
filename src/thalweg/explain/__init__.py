"""EXPLAIN: a plan with its patterns, buffers and bounds, or with its costs, as text and as JSON."""

from thalweg.explain.choice import OperatorMeasurement, choice_json, choice_text, measurements, plans_text
from thalweg.explain.plan import explain_json, explain_text

__all__ = [
    "OperatorMeasurement", "choice_json", "choice_text", "explain_json", "explain_text", "measurements", "plans_text",
]  # fmt: skip
