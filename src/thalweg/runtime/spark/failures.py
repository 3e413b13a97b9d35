"""Why a streaming query ended, in a few lines: what a task raised far away, not how it came here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import StreamingQueryException

from thalweg.core import errors
from thalweg.core.errors import ThalwegError

_HINT = "run.query.exception() has Spark's whole account"
_OURS = re.compile(
    r"thalweg\.core\.errors\.(\w+): (.*?)(?=\n\s*at |\n\tat |\n*JVM stacktrace|\nCaused by|\n\n|\Z)", re.DOTALL
)
_RAISED = re.compile(r"^(?!pyspark|java|scala|org\.)([\w.]+(?:Error|Exception)): (.*)$", re.MULTILINE)
_SPARKS = re.compile(r"\[([A-Z][A-Z0-9_.]+)\] ([^\n]*)")
# Classes of Spark's that say no more than that something went wrong somewhere.
_WRAPPERS = ("STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR", "FAILED_EXECUTE_UDF", "PYTHON_EXCEPTION")


class QueryFailedError(ThalwegError):
    """A query on Spark has ended, for a reason that is none of ours."""


@contextmanager
def plain_failures() -> Iterator[None]:
    """An exception of a streaming query is raised as the error that was its cause."""
    try:
        yield
    except StreamingQueryException as failure:
        raise plain(str(failure)) from None


def plain(account: str) -> ThalwegError:
    """The error that an account of Spark's is about."""
    if ours := _OURS.search(account):
        kind = getattr(errors, ours[1], ThalwegError)
        lines = ours[2].strip().splitlines()
        hints = [line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")]
        message = "\n".join(line for line in lines if not line.startswith("hint: "))
        error: ThalwegError = kind(message, hint=hints[0] if hints else _HINT)
        return error
    if raised := _RAISED.search(account):
        return QueryFailedError(f"the query has ended: {raised[1]}: {raised[2]}", hint=_HINT)
    told = [text for kind, text in _SPARKS.findall(account) if not kind.startswith(_WRAPPERS)]
    first = account.strip().splitlines()[0] if account.strip() else "no reason is known"
    return QueryFailedError(f"the query has ended: {(told or [first])[-1]}", hint=_HINT)
