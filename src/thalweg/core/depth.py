"""Plans and expressions are walked down by functions that call themselves; one that is too deep is refused in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from thalweg.core.errors import PlanError


@contextmanager
def words_for_depth() -> Iterator[None]:
    """Python's RecursionError becomes a PlanError; also a decorator."""
    try:
        yield
    except RecursionError:
        raise PlanError(
            "the query is nested too deeply",
            hint="make several queries of it, or shorten its sums and unions; AND, OR and IN may be long",
        ) from None
