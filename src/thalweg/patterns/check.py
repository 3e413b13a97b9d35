"""Refusals (U8): plans with no exact answer, because a relation may change between a tuple and its negative tuple.

A join with an NRR does not store its stream side, so it cannot find the results that a negative tuple deletes.
GolabOzsu2005 §5.4.2 asks the same of a join with a relation. A chain of relation joins is allowed: there the early
deletions come from the relations themselves.
"""

from __future__ import annotations

from typing import assert_never

from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    JoinKind,
    MultiJoin,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    RStream,
    Select,
    SemiJoin,
    StreamScan,
    TopK,
    Union,
    Windowed,
    is_table,
)
from thalweg.core.depth import words_for_depth
from thalweg.core.errors import PlanError
from thalweg.patterns.derive import Annotated, annotate
from thalweg.patterns.pattern import Pattern


@words_for_depth()
def check(plan: Plan) -> None:
    """Raise a PlanError, with a way out, if no strategy could answer the plan exactly."""
    _check(annotate(plan))


def _check(plan: Annotated) -> None:
    node = plan.node
    match node:
        case RelationScan(source) if not source.retroactive:
            raise PlanError(
                f"the NRR {source.name} stands alone: it has contents only at the time of a tuple that meets it",
                hint=f"put it on the right of a join: FROM stream JOIN {source.name} ON ...; "
                f"or declare it with CREATE RELATION, so that its updates look back",
            )
        case NrrJoin():
            _check(plan.children[0])  # the right side is the NRR, which may stand here
            _check_nrr_join(plan)
            return
        case Join() if is_table(node.left) != is_table(node.right):
            _check_relation_join(plan)
        case MultiJoin() if len({is_table(child) for child in node.children}) > 1:
            _check_relations_join(plan)
    # Every other operator is allowed if its inputs are.
    for child in plan.children:
        _check(child)


def _check_nrr_join(plan: Annotated) -> None:
    cause = strict_cause(plan.children[0])
    if cause is not None:
        raise _refusal(plan.node, "NRR", plan.node.children[1], cause)


def _check_relation_join(plan: Annotated) -> None:
    stream, table = plan.children
    if is_table(stream.node):
        stream, table = table, stream
    cause = strict_cause(stream)
    if cause is not None and not _joins_table(cause):
        raise _refusal(plan.node, "relation", table.node, cause)


def _check_relations_join(plan: Annotated) -> None:
    table = next(child.node for child in plan.children if is_table(child.node))
    for stream in plan.children:
        cause = None if is_table(stream.node) else strict_cause(stream)
        if cause is not None and not _joins_table(cause):
            raise _refusal(plan.node, "relation", table, cause)


def _refusal(node: Plan, kind: str, table: Plan, cause: Plan) -> PlanError:
    name = ", ".join(leaf.source.name for leaf in table.walk() if isinstance(leaf, RelationScan))
    if isinstance(cause, RelationScan):
        sender, way_out = f"the relation {cause.detail}", f"join {name} first, then {cause.detail}"
    else:
        sender, way_out = f"the {cause.label}", f"join {name} below the {cause.label}, to the windowed stream itself"
    return PlanError(
        f"{node.label} with the {kind} {name} cannot take negative tuples, but {sender} below it sends them",
        hint=way_out,
    )


def strict_cause(plan: Annotated) -> Plan | None:
    """The operator that makes the plan's output STR; a relation only if no other operator does. None if not STR."""
    if plan.edge.pattern is not Pattern.STR:
        return None
    if not plan.children or _deletes_early(plan.node):
        return plan.node
    # A join with a table that is grouped is strict, though neither side is.
    causes = [cause for child in plan.children if (cause := strict_cause(child)) is not None] or [plan.node]
    return next((cause for cause in causes if cause.children), causes[0])


def _deletes_early(node: Plan) -> bool:
    """Whether the operator deletes results early, whatever its inputs."""
    match node:
        case Negation() | TopK() | SemiJoin(anti=True):
            return True
        case Join(kind=kind):
            return kind is not JoinKind.INNER
        case StreamScan() | RelationScan() | Windowed() | Select() | Project() | Distinct() | GroupBy() | Union():
            return False
        case Intersect() | SemiJoin() | NrrJoin() | MultiJoin() | IStream() | DStream() | RStream():
            return False
        case _:
            assert_never(node)


def _joins_table(node: Plan) -> bool:
    """Whether early deletions come from a relation: from its scan, or from an outer join with it."""
    return isinstance(node, RelationScan) or (isinstance(node, Join) and any(map(is_table, node.children)))
