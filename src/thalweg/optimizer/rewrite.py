"""The driver of the rewrite rules: it applies them from the leaves up until none applies any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
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
    keeps_arrival_order,
)
from thalweg.algebra.windows import LogicalWindow
from thalweg.core.errors import PlanError
from thalweg.optimizer.rules import RULES, Rule
from thalweg.optimizer.rules.empty_inputs import is_empty
from thalweg.patterns import check

MOST_STEPS = 20_000  # far more than any plan needs; stops rules that make a plan larger and larger


@dataclass(frozen=True)
class RewriteStep:
    """One application of a rule to one node."""

    rule: Rule
    before: Plan
    after: Plan


@dataclass(frozen=True)
class Rewritten:
    """The rewritten plan, and the steps that led to it; equal sub-plans are rewritten once."""

    plan: Plan
    steps: tuple[RewriteStep, ...]


def rewrite(plan: Plan, rules: Sequence[Rule] = RULES) -> Rewritten:
    """An equivalent plan to which no rule applies: the same columns, and the same answer at every instant.

    A side of a join that loses its last stream becomes a relation, whose join takes no negative tuples. If the
    rewritten plan would be refused for such a reason, and the original is not, the original is returned.
    """
    driver = _Driver(rules)
    found = driver.rewritten(plan, Demands())
    if _is_refused(found) and not _is_refused(plan):
        return Rewritten(plan, ())
    return Rewritten(found, tuple(driver.steps))


class Demands(NamedTuple):
    """Whether the answer depends on the dates of a node's output, and on the order in which it comes."""

    dates: bool = False
    order: bool = False


def demands(node: Plan, above: Demands) -> tuple[Demands, ...]:
    """What a node demands of each input, given what the operators above demand of the node.

    docs/semantics.md, "Operators and dates", says which dates an operator reads.
    """
    passed, nothing, dated = Demands(above.dates), Demands(), Demands(dates=True)
    match node:
        case StreamScan() | RelationScan():
            return ()
        case Windowed(window=window):
            return (Demands(dates=True, order=not isinstance(window, LogicalWindow)),)
        case RStream():  # a row with another ts is another row
            return (dated,)
        case IStream() | DStream():  # its results have dates of their own
            return (nothing,)
        case NrrJoin():  # it reads the relation as of the left tuple's ts
            return (dated, nothing)
        case Negation() if not node.compares_rows:  # dates decide which of several left rows stay
            return (dated, nothing)
        case Negation() | SemiJoin() | Intersect():  # its results have the dates of left rows
            return (passed, nothing)
        case Select() | Project():
            return (above,)
        case Distinct() | GroupBy() | TopK() | Union() | Join() | MultiJoin():
            return tuple(passed for _ in node.children)
        case _:
            assert_never(node)


class _Driver:
    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._done: dict[tuple[Plan, Demands], Plan] = {}
        self._open: set[tuple[Plan, Demands]] = set()
        self.steps: list[RewriteStep] = []

    def rewritten(self, plan: Plan, above: Demands) -> Plan:
        """Rewrite the inputs, then the node. After each step on the node, start again with the new inputs."""
        key = (plan, above)
        if key in self._done:
            return self._done[key]
        if key in self._open:
            raise self._endless()
        self._open.add(key)
        found = self._with_rewritten_inputs(plan, above)
        while (found, above) not in self._done and (step := self._step(found, above)) is not None:
            self.steps.append(step)
            if len(self.steps) > MOST_STEPS:
                raise self._endless()
            found = self._with_rewritten_inputs(step.after, above)
        self._open.remove(key)
        self._done[key] = self._done[found, above] = self._done.get((found, above), found)
        return self._done[key]

    def _with_rewritten_inputs(self, plan: Plan, above: Demands) -> Plan:
        inputs = tuple(map(self.rewritten, plan.children, demands(plan, above)))
        return plan if inputs == plan.children else plan.with_children(*inputs)

    def _step(self, plan: Plan, above: Demands) -> RewriteStep | None:
        """Apply the first rule that changes the node and meets the demands of the operators above."""
        for rule in self._rules:
            if above.dates and not rule.keeps_dates:
                continue
            after = rule.apply(plan)
            if after is None or after == plan or not _meets(above, plan, after):
                continue
            if after.schema != plan.schema:
                raise PlanError(f"the rule {rule.name} turned the columns {plan.schema} into {after.schema}")
            return RewriteStep(rule, plan, after)
        return None

    def _endless(self) -> PlanError:
        names = [step.rule.name for step in self.steps[-2:]]
        plans = "\n".join(str(step.after) for step in self.steps[-2:])
        return PlanError(
            f"the rewrite rules {' and '.join(names)} do not come to an end; their last two plans:\n{plans}",
            hint="leave one of them out: rewrite(plan, rules)",
        )


def _meets(above: Demands, before: Plan, after: Plan) -> bool:
    """Whether a stream stays a stream, and keeps its order of arrival if a window above counts its tuples."""
    same_order = keeps_arrival_order(before) == keeps_arrival_order(after) or is_empty(after)
    if above.order and not same_order:
        return False
    return after.is_stream or not before.is_stream


def _is_refused(plan: Plan) -> bool:
    try:
        check(plan)
    except PlanError:
        return True
    return False
