"""EXPLAIN: a plan with its patterns, buffers and bounds, as text and as JSON."""

from thalweg.explain.as_json import explain_json
from thalweg.explain.as_text import explain_text

__all__ = ["explain_json", "explain_text"]
