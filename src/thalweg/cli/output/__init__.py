"""The format of results on the command line."""

from thalweg.algebra.answer_order import answer_order
from thalweg.cli.output.answers import Answer, answers
from thalweg.cli.output.console import console, progress, say
from thalweg.cli.output.values import as_json, as_text, json_text, unique
from thalweg.cli.output.writers import FORMATS, Writer, writer

__all__ = [
    "FORMATS", "Answer", "Writer", "answer_order", "answers", "as_json", "as_text", "console", "json_text", "progress",
    "say", "unique", "writer",
]  # fmt: skip
