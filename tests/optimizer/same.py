"""Whether two plans have the same answer at every instant, by the reference."""

from __future__ import annotations

from collections import Counter

from kernel.test_against_reference import AFTERWARDS
from thalweg.algebra.plan import Plan
from thalweg.core.time import Instant
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History


def difference(one: Plan, other: Plan, history: History, *, dated: bool) -> str | None:
    """The first difference between the answers of two plans, as text; with `dated`, ts and exp count too."""
    a, b = Reference(one, history), Reference(other, history)
    for t in instants(a, b, history):
        rows, others = (_contents(r, t, dated) for r in (a, b))
        if rows != others:
            return f"at {t}: {rows - others} are missing, {others - rows} are new"
    return None


def instants(one: Reference, other: Reference, history: History) -> list[Instant]:
    """All instants at which one of two plans may change, and one long after."""
    end = max(history.last, 0) + AFTERWARDS
    return sorted({*one.instants(end), *other.instants(end), end})


def _contents(reference: Reference, t: Instant, dated: bool) -> Counter[tuple[object, ...]]:
    tuples = reference.tuples(t)
    return Counter(tuple(d) if dated else d.row for d in tuples)
