"""No tuples at all: a selection of a source's rows that is never true, under the columns that are wanted.

A leaf without a source would be shorter, but a plan over it alone would have nothing to tell it the time; this is
made of operators that every engine has, and its rows are dropped as they are read.
"""

from __future__ import annotations

from thalweg.algebra.expressions import FALSE
from thalweg.algebra.plan import Plan, Project, RelationScan, Select, StreamScan
from thalweg.optimizer.columns import nulls


def nothing(plan: Plan) -> Plan:
    """No tuples, with the plan's columns; over a stream if there is one below, so that it can take a window."""
    source = min((node for node in plan.walk() if not node.children), key=_preference)
    none = Select(source, FALSE)
    return none if source.schema == plan.schema else Project(none, nulls(plan.schema))


def is_nothing(plan: Plan) -> bool:
    """Whether the plan says that it has no tuples."""
    match plan:
        case Project(child):
            return is_nothing(child)
        case Select(_, predicate):
            return predicate == FALSE
    return False


def _preference(leaf: Plan) -> int:
    if isinstance(leaf, StreamScan):
        return 0
    return 1 if isinstance(leaf, RelationScan) and leaf.source.retroactive else 2
