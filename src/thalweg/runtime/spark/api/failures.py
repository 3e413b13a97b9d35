"""Why a streaming query ended, in a few lines: what a task raised far away, not how it came here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import StreamingQueryException

from thalweg.core import errors
from thalweg.core.errors import ThalwegError

_HINT = "run.query.exception() has Spark's whole account"
_END = r"(?=\n\s*at |\n\nJVM stacktrace|\nCaused by|\n=== Streaming Query|\n\n|\Z)"
_OURS = re.compile(r"thalweg\.core\.errors\.(\w+): (.*?)" + _END, re.DOTALL)
_RAISED = re.compile(r"^(?!pyspark|py4j|java|scala|org\.)([\w.]+(?:Error|Exception)): (.*)$", re.MULTILINE)
_STREAM = re.compile(r"terminated with exception: (.*?)(?: SQLSTATE: \w+)*" + _END, re.DOTALL)
_CAUSE = re.compile(r"^Caused by: [\w.$]+: (.*?)" + _END, re.DOTALL | re.MULTILINE)
_STATE = re.compile(r"\s*\bSQLSTATE: \w+")  # Spark's, behind a message of ours
_MOST_LINES = 4


class QueryFailedError(ThalwegError):
    """A query on Spark has ended, for a reason that is none of ours."""


@contextmanager
def plain_failures() -> Iterator[None]:
    """An exception of a streaming query is raised as the error that was its cause."""
    try:
        yield
    except StreamingQueryException as failure:
        raise plain(f"{failure}\n\n{getattr(failure, '_stackTrace', '')}") from None


def plain(account: str) -> ThalwegError:
    """The error that an account of Spark's is about: its message, with the trace of the JVM behind it."""
    if ours := _OURS.search(account):
        kind = getattr(errors, ours[1], ThalwegError)
        lines = _STATE.sub("", ours[2]).strip().splitlines()
        hints = [line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")]
        message = "\n".join(line for line in lines if not line.startswith("hint: "))
        error: ThalwegError = kind(message, hint=hints[0] if hints else _HINT)
        return error
    if raised := _RAISED.search(account):
        return QueryFailedError(f"the query has ended: {raised[1]}: {raised[2]}", hint=_HINT)
    causes = [*_STREAM.findall(account)[:1], *_CAUSE.findall(account)[-1:]] or [account or "nobody knows why"]
    lines = [line.strip() for text in dict.fromkeys(causes) for line in text.splitlines() if line.strip()]
    return QueryFailedError("the query has ended: " + "\n".join(lines[:_MOST_LINES]), hint=_HINT)
