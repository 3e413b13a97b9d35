"""Thalweg: exact answers to standing queries over streams and changing tables.

>>> import thalweg as tw
>>> s = tw.local()
"""

from datetime import date

from thalweg.algebra.expressions import UserAggregate, aggregate
from thalweg.core.errors import ThalwegError
from thalweg.fluent import Col, Table, call, col, lit
from thalweg.planner import Settings
from thalweg.runtime.local import LocalQuery, Session

__version__ = "0.1.0"


def local(today: date | str | None = None) -> Session:
    """An in-process engine with a virtual clock: for tests, notebooks and teaching.

    `today` is the day that a bare time of day in a window refers to before the clock has started.
    """
    return Session(date.fromisoformat(today) if isinstance(today, str) else today)


__all__ = [
    "Col", "LocalQuery", "Session", "Settings", "Table", "ThalwegError", "UserAggregate", "aggregate", "call", "col",
    "lit", "local",
]  # fmt: skip
