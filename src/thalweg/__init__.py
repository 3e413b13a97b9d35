"""Thalweg: exact answers to standing queries over streams and changing tables.

>>> import thalweg as tw
>>> s = tw.local()
"""

from datetime import date
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from thalweg.algebra.expressions import UserAggregate, UserFunction, aggregate, function
from thalweg.core.errors import MissingPackageError, ThalwegError
from thalweg.explain.timeline import timeline
from thalweg.fluent import Col, Table, call, col, lit
from thalweg.kernel.pipeline import Settings
from thalweg.runtime.local import LocalQuery, Session

if TYPE_CHECKING:
    from thalweg.runtime.spark import sinks as sinks
    from thalweg.runtime.spark import sources as sources
    from thalweg.runtime.spark.api.engine import Engine as Engine

__version__ = "0.2.0.dev0"  # the only place that says it: docs/releasing.md


def local(*, today: date | str | None = None) -> Session:
    """An engine in this process, with a clock that you move: for tests, notebooks and teaching.

    `today` is the day that a bare time of day in a window refers to before the clock has started.
    """
    return Session(today=date.fromisoformat(today) if isinstance(today, str) else today)


_ON_SPARK = {
    "Engine": "thalweg.runtime.spark.api.engine",
    "sinks": "thalweg.runtime.spark.sinks",
    "sources": "thalweg.runtime.spark.sources",
}


def __getattr__(name: str) -> Any:
    """Import the Spark engine, its sinks and sources on first use: all the rest works without PySpark."""
    if name not in _ON_SPARK:
        raise AttributeError(f"module 'thalweg' has no attribute {name!r}")
    try:
        module = import_module(_ON_SPARK[name])
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "thalweg":
            raise
        raise MissingPackageError(
            f"thalweg.{name} needs PySpark, and the package {error.name.partition('.')[0]} is not installed",
            hint="pip install 'thalweg[spark]'",
        ) from None
    return module.Engine if name == "Engine" else module


def __dir__() -> list[str]:
    """All names, those on Spark included if PySpark is installed: `help` imports every name that is listed."""
    return sorted({*globals(), *(_ON_SPARK if find_spec("pyspark") else ())})


__all__ = [  # what is on Spark is left out: `from thalweg import *` must not need it
    "Col", "LocalQuery", "Session", "Settings", "Table", "ThalwegError", "UserAggregate", "UserFunction", "aggregate",
    "call", "col", "function", "lit", "local", "timeline",
]  # fmt: skip
