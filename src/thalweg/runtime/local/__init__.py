"""The in-process engine with a virtual clock."""

from thalweg.runtime.local.query import LocalQuery
from thalweg.runtime.local.session import Session, name_all

__all__ = ["LocalQuery", "Session", "name_all"]
