"""The driver: rules are applied from the leaves up until none applies any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.algebra.plan import Plan, keeps_arrival_order
from thalweg.core.errors import PlanError
from thalweg.optimizer.demands import Demands, demands
from thalweg.optimizer.nothing import is_nothing
from thalweg.optimizer.rule import Rule
from thalweg.optimizer.rules import RULES
from thalweg.patterns import check

MOST_STEPS = 20_000  # far more than any plan needs: rules that make a plan ever larger would go on for ever


@dataclass(frozen=True)
class Step:
    """One application of a rule to one node."""

    rule: Rule
    before: Plan
    after: Plan


@dataclass(frozen=True)
class Rewritten:
    """The plan that came out, and how; equal sub-plans are rewritten once."""

    plan: Plan
    steps: tuple[Step, ...]


def rewrite(plan: Plan, rules: Sequence[Rule] = RULES) -> Rewritten:
    """An equivalent plan to which no rule applies: the same columns, and the same answer at every instant.

    A side of a join that loses its last stream becomes a relation, whose join takes no negative tuples: where that
    would get a plan refused that was not, it stays as it is.
    """
    driver = _Driver(rules)
    found = driver.rewritten(plan, Demands())
    if _is_refused(found) and not _is_refused(plan):
        return Rewritten(plan, ())
    return Rewritten(found, tuple(driver.steps))


class _Driver:
    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._done: dict[tuple[Plan, Demands], Plan] = {}
        self._open: set[tuple[Plan, Demands]] = set()
        self.steps: list[Step] = []

    def rewritten(self, plan: Plan, above: Demands) -> Plan:
        """Inputs first, then the node; what a rule makes of it is looked at again from below."""
        key = (plan, above)
        if key in self._done:
            return self._done[key]
        if key in self._open:
            raise self._endless()
        self._open.add(key)
        found = self._inputs(plan, above)
        while (found, above) not in self._done and (step := self._step(found, above)) is not None:
            self.steps.append(step)
            if len(self.steps) > MOST_STEPS:
                raise self._endless()
            found = self._inputs(step.after, above)
        self._open.remove(key)
        self._done[key] = self._done[found, above] = self._done.get((found, above), found)
        return self._done[key]

    def _inputs(self, plan: Plan, above: Demands) -> Plan:
        inputs = tuple(map(self.rewritten, plan.children, demands(plan, above)))
        return plan if inputs == plan.children else plan.with_children(*inputs)

    def _step(self, plan: Plan, above: Demands) -> Step | None:
        """The first rule that makes something else of a node, without taking away what is read of it above."""
        for rule in self._rules:
            if above.dates and not rule.keeps_dates:
                continue
            after = rule.apply(plan)
            if after is None or after == plan or not _fits(plan, after, above):
                continue
            if after.schema != plan.schema:
                raise PlanError(f"the rule {rule.name} turned the columns {plan.schema} into {after.schema}")
            return Step(rule, plan, after)
        return None

    def _endless(self) -> PlanError:
        names = [step.rule.name for step in self.steps[-2:]]
        plans = "\n".join(str(step.after) for step in self.steps[-2:])
        return PlanError(
            f"the rewrite rules {' and '.join(names)} find no end:\n{plans}",
            hint="leave one of them out: rewrite(plan, rules)",
        )


def _fits(before: Plan, after: Plan, above: Demands) -> bool:
    """A stream stays one; if a window counts its tuples, they come in the order they came in before."""
    same_order = keeps_arrival_order(before) == keeps_arrival_order(after) or is_nothing(after)
    if above.order and not same_order:
        return False
    return after.is_stream or not before.is_stream


def _is_refused(plan: Plan) -> bool:
    try:
        check(plan)
    except PlanError:
        return True
    return False
