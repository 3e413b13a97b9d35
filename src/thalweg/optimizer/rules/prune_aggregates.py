"""pi_L(gamma_{K; A}(S)) = pi_L(gamma_{K; A'}(S)), A' holding the aggregates that L reads."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.expressions import columns_of
from thalweg.algebra.plan import GroupBy, Plan, Project, Select
from thalweg.optimizer.columns import columns_read, moved, selected
from thalweg.optimizer.expressions import expressions_of, with_expressions


def prune_aggregates(plan: Plan) -> Plan | None:
    """Aggregates that nobody reads are not computed.

    Below a projection or another group-by, also through a selection. The keys stay, for they make the groups; a global
    aggregate keeps one, for its row is there all the same.
    """
    match plan:
        case Project(Select(GroupBy() as group, predicate)) | GroupBy(Select(GroupBy() as group, predicate)):
            parts = [predicate]
        case Project(GroupBy() as group) | GroupBy(GroupBy() as group):
            parts = []
        case _:
            return None
    width = len(group.keys)
    wanted = columns_read(expressions_of(plan)).union(*map(columns_of, parts))
    stay = [i for i in range(len(group.aggregates)) if i + width in wanted]
    stay = stay or [0] * (not group.keys)
    if len(stay) == len(group.aggregates):
        return None
    places = {i: i for i in range(width)} | {width + old: width + new for new, old in enumerate(stay)}
    below = replace(group, aggregates=tuple(group.aggregates[i] for i in stay))
    child = selected(below, [moved(part, places) for part in parts])
    return with_expressions(plan, lambda e: moved(e, places), child)
