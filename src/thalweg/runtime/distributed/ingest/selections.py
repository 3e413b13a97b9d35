"""Which rows of a stream a plan can do without, but for the time they tell: those that its selections drop at once."""

from __future__ import annotations

from collections import defaultdict

from thalweg.algebra.expressions import Expression, call
from thalweg.algebra.plan import Plan, Select, StreamScan, Windowed
from thalweg.algebra.windows import LogicalWindow


def selections(plan: Plan) -> dict[str, Expression]:
    """By stream, the condition without which no row matters; a stream that is read in two ways needs two alike.

    A selection commutes with a window that is made of time alone, so it counts above such a window as it does below.
    """
    found: defaultdict[str, list[Expression | None]] = defaultdict(list)
    _collect(plan, None, found)
    return {
        name: first for name, (first, *rest) in found.items() if first is not None and all(c == first for c in rest)
    }


def _collect(plan: Plan, above: Expression | None, found: defaultdict[str, list[Expression | None]]) -> None:
    match plan:
        case StreamScan(source):
            found[source.name].append(above)
        case Select(child, predicate):
            _collect(child, predicate if above is None else call("and", predicate, above), found)
        case Windowed(child, LogicalWindow()):
            _collect(child, above, found)
        case _:
            for child in plan.children:
                _collect(child, None, found)
