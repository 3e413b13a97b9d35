"""The engine in this process, with a clock that its user moves."""

from thalweg.runtime.local.flow import LocalFlow
from thalweg.runtime.local.query import LocalQuery
from thalweg.runtime.local.session import Session

__all__ = ["LocalFlow", "LocalQuery", "Session"]
