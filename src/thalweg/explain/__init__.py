"""EXPLAIN: a plan with its patterns, buffers and bounds, as text and as JSON."""

from thalweg.explain.as_json import explain_json
from thalweg.explain.as_text import explain_text
from thalweg.explain.choice import choice_json, choice_text, plans_text, seen_of

__all__ = ["choice_json", "choice_text", "explain_json", "explain_text", "plans_text", "seen_of"]
