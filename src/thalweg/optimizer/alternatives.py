"""Plans of the same answer whose costs are compared: as written, rewritten, and with joins in other orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations

from thalweg.algebra.plan import MultiJoin, Plan, flatten, join_graph, unflatten
from thalweg.core.errors import PlanError
from thalweg.optimizer.cost import Costed, cost
from thalweg.optimizer.rewrite import RewriteStep, rewrite
from thalweg.optimizer.rules import CHOICES, RULES, Rule
from thalweg.optimizer.statistics import Statistics
from thalweg.patterns import check

TRY_ALL_ORDERS_UP_TO = 5  # inputs of a join; with more inputs, smaller ones are joined first

_PULLS = ("pull anti join above join", "pull negation above join")
_PUSHES = ("push anti join below join",)
_DISTINCT = ("push distinct below join",)
_PRUNING = ("prune join columns",)


@dataclass(frozen=True)
class Alternative:
    """A plan, the rewrite steps that led to it, and its costs."""

    name: str
    plan: Plan
    costed: Costed
    steps: tuple[RewriteStep, ...] = ()

    @property
    def cost(self) -> float:
        """The cost per tick."""
        return self.costed.total


def alternatives(plan: Plan, statistics: Statistics, in_shards: bool = False) -> list[Alternative]:
    """All plans to compare, each once: first the one that all rules produce, last the plan as written.

    With `in_shards`, a multi-way join is considered only if one key decides which tuples may meet.
    """
    found: dict[Plan, Alternative] = {}
    for name, rules in _rule_sets():
        rewritten = rewrite(plan, rules)
        base = Alternative(name, rewritten.plan, cost(rewritten.plan, statistics), rewritten.steps)
        for each in (base, *_with_other_joins(plan, base, rules, statistics, in_shards)):
            if each.plan not in found and _is_allowed(each.plan):
                found[each.plan] = each
    found.setdefault(plan, Alternative("as written", plan, cost(plan, statistics)))
    return list(found.values())


def _rule_sets() -> Iterator[tuple[str, tuple[Rule, ...]]]:
    yield "rewritten", RULES
    pushed = tuple(rule for rule in RULES if rule.name not in _PULLS)
    yield "rewritten, negation below joins", (*pushed, *(rule for rule in CHOICES if rule.name in _PUSHES))
    yield "rewritten, distinct above joins", tuple(rule for rule in RULES if rule.name not in _DISTINCT)


def _with_other_joins(
    plan: Plan, base: Alternative, rules: tuple[Rule, ...], statistics: Statistics, in_shards: bool
) -> Iterator[Alternative]:
    """The plan with its joins of three and more inputs in the cheapest binary order, and as one multi-way join.

    Projections between joins would hide that the joins belong together, so columns are pruned afterwards.
    """
    whole = rewrite(plan, [rule for rule in rules if rule.name not in _PRUNING]).plan
    flat = rewrite(flatten(whole), rules).plan
    clusters = [node for node in flat.walk() if isinstance(node, MultiJoin)]
    if not clusters:
        return
    ordered = rewrite(_replaced(flat, lambda multi: _best_tree(multi, statistics)), rules).plan
    yield replace(base, name=f"{base.name}, joins in another order", plan=ordered, costed=cost(ordered, statistics))
    if not in_shards or all(map(_has_one_key, clusters)):
        yield replace(base, name=f"{base.name}, joins as one", plan=flat, costed=cost(flat, statistics))


def _replaced(plan: Plan, tree: Callable[[MultiJoin], Plan]) -> Plan:
    below = plan.with_children(*(_replaced(child, tree) for child in plan.children)) if plan.children else plan
    return tree(below) if isinstance(below, MultiJoin) else below


def _best_tree(multi: MultiJoin, statistics: Statistics) -> Plan:
    inputs = range(len(multi.inputs))
    if len(multi.inputs) <= TRY_ALL_ORDERS_UP_TO:
        trees = (unflatten(multi, order) for order in permutations(inputs))
        return min(trees, key=lambda tree: cost(tree, statistics).total)
    sizes = [cost(child, statistics).traffic.size for child in multi.inputs]
    return unflatten(multi, sorted(inputs, key=sizes.__getitem__))


def _has_one_key(multi: MultiJoin) -> bool:
    graph = join_graph(multi.condition, multi.offsets)
    return any(len(attribute.inputs) == len(multi.inputs) for attribute in graph.attributes)


def _is_allowed(plan: Plan) -> bool:
    try:
        check(plan)
    except PlanError:
        return False
    return True
