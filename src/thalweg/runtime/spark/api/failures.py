"""Turns Spark's exception about a streaming query into the error that caused it, without the JVM's traces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import StreamingQueryException

from thalweg.core import errors
from thalweg.core.errors import ThalwegError

_HINT = "run.query.exception() has the whole text of Spark's exception"
_END = r"(?=\n\s*at |\n\nJVM stacktrace|\nCaused by|\n=== Streaming Query|\n\n|\Z)"
_OURS = re.compile(r"thalweg\.core\.errors\.(\w+): (.*?)" + _END, re.DOTALL)
_RAISED = re.compile(r"^(?!pyspark|py4j|java|scala|org\.)([\w.]+(?:Error|Exception)): (.*)$", re.MULTILINE)
_STREAM = re.compile(r"terminated with exception: (.*?)(?: SQLSTATE: \w+)*" + _END, re.DOTALL)
_CAUSE = re.compile(r"^Caused by: [\w.$]+: (.*?)" + _END, re.DOTALL | re.MULTILINE)
_STATE = re.compile(r"\s*\bSQLSTATE: \w+")  # Spark appends it to our messages
_SHOWN_LINES = 4  # of a cause


class QueryFailedError(ThalwegError):
    """A query ended by an error outside Thalweg."""


@contextmanager
def plain_failures() -> Iterator[None]:
    """Within this block an exception of a streaming query is raised as the error that caused it."""
    try:
        yield
    except StreamingQueryException as failure:
        raise plain(f"{failure}\n\n{getattr(failure, '_stackTrace', '')}") from None


def plain(account: str) -> ThalwegError:
    """The cause found in the text of Spark's exception: its message and the JVM's trace."""
    if ours := _OURS.search(account):
        kind = getattr(errors, ours[1], ThalwegError)
        lines = _STATE.sub("", ours[2]).strip().splitlines()
        hints = [line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")]
        message = "\n".join(line for line in lines if not line.startswith("hint: "))
        error: ThalwegError = kind(message, hint=hints[0] if hints else _HINT)
        return error
    if raised := _RAISED.search(account):
        return QueryFailedError(f"the query has ended: {raised[1]}: {raised[2]}", hint=_HINT)
    causes = [*_STREAM.findall(account)[:1], *_CAUSE.findall(account)[-1:]] or [account or "Spark gave no reason"]
    lines = [line.strip() for text in dict.fromkeys(causes) for line in text.splitlines() if line.strip()]
    return QueryFailedError("the query has ended: " + "\n".join(lines[:_SHOWN_LINES]), hint=_HINT)
