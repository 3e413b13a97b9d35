"""What all standing queries of a session can be asked, whether they run alone or in a flow."""

from __future__ import annotations

from typing import Any, Protocol

from thalweg.algebra.plan import Plan
from thalweg.core.schema import Schema


class StandingQuery(Protocol):
    """A query with an answer that changes."""

    name: str
    plan: Plan

    @property
    def schema(self) -> Schema:
        """The answer's columns."""

    @property
    def now(self) -> Any:
        """The query's clock; None before it has started."""

    def reads(self, name: str) -> bool:
        """Whether the query uses a stream or table."""

    def answer(self, at: Any = None) -> list[tuple[Any, ...]]:
        """The rows of the answer now, or at an instant that has passed."""

    def changes(self) -> list[tuple[Any, int, tuple[Any, ...]]]:
        """The signed rows since the last call."""
