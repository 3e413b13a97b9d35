"""Would catch a rule that changes an answer: drawn plans before and after, in the reference and in the kernel.

Every single step is held against the reference, with dates, so that a failure names its rule.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, note, seed
from hypothesis import strategies as st

from kernel.test_against_reference import AFTERWARDS, allowed, events_of, feed
from optimizer.drawn import FAMILIES, rule_cases
from optimizer.same import difference
from reference.oracle.tables import close
from runtime.distributed.simulated import SimulatedShards
from strategies.effort import exactly, examples
from strategies.plans import OPERATORS, cases
from thalweg.algebra.plan import Plan
from thalweg.core.time import BEGINNING
from thalweg.kernel.pipeline import Strategy
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.optimizer import CHOICES, RULES, Rewritten, Rule, rewrite
from thalweg.patterns import derive
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History
from thalweg.runtime.local.feeder import Feeder
from thalweg.runtime.local.kernel_run import KernelRun
from thalweg.runtime.local.outputs import OutputLog

quick = examples(150)

runnable = rule_cases().filter(lambda case: allowed(case[0]))


def held(plan: Plan, history: History) -> Rewritten:
    """The rewritten plan, after every step of its making has been compared."""
    found = rewrite(plan)
    for step in found.steps:
        parted = difference(step.before, step.after, history, dated=step.rule.keeps_dates)
        assert parted is None, f"{step.rule.name}: {parted}\n{step.before}\n{step.after}"
    assert found.plan.schema == plan.schema
    assert allowed(found.plan)
    parted = difference(plan, found.plan, history, dated=False)
    assert parted is None, f"{parted} after {[step.rule.name for step in found.steps]}"
    return found


@quick
@given(runnable)
def test_plans_made_for_rules_keep_their_answers(case: tuple[Plan, History]) -> None:
    found = held(*case)
    assert rewrite(found.plan).plan == found.plan, "what has been rewritten is rewritten again"


@pytest.mark.parametrize("root", OPERATORS)
@examples(15)
@given(data=st.data())
def test_any_plan_keeps_its_answer(root: str, data: st.DataObject) -> None:
    held(*data.draw(cases(root=root).filter(lambda case: allowed(case[0]))))


@quick
@given(runnable)
def test_rules_that_keep_dates_keep_them_through_the_whole_plan(case: tuple[Plan, History]) -> None:
    plan, history = case
    found = rewrite(plan, [rule for rule in RULES if rule.keeps_dates])
    assert difference(plan, found.plan, history, dated=True) is None


@quick
@given(runnable)
def test_no_step_makes_an_update_pattern_stronger(case: tuple[Plan, History]) -> None:
    """The first heuristic of GolabOzsu2005 §5.4.2: update pattern simplification."""
    for step in rewrite(case[0]).steps:
        assert derive(step.after).pattern <= derive(step.before).pattern, step


@pytest.mark.parametrize("choice", CHOICES, ids=lambda rule: rule.name)
@quick
@given(case=runnable)
def test_choices_keep_the_answer_anywhere(choice: Rule, case: tuple[Plan, History]) -> None:
    plan, history = case
    for node in plan.walk():
        other = choice.apply(node)
        if other is not None:
            assert other.schema == node.schema
            assert difference(node, other, history, dated=choice.keeps_dates) is None


@pytest.mark.parametrize("strategy", [Strategy.AUTO, Strategy.NT], ids=lambda s: s.value)
@quick
@given(case=runnable)
def test_the_kernel_runs_what_has_been_rewritten(strategy: Strategy, case: tuple[Plan, History]) -> None:
    plan, history = case
    found = rewrite(plan).plan
    note(str(found))
    run = KernelRun(found, BEGINNING, strategy)
    for event in events_of(found, history):
        feed(run, event)
    end = max(history.last, 0) + AFTERWARDS
    reference = Reference(plan, history)
    for t in [*reference.instants(end), end]:
        assert close(reference.answer(t), run.answer(t, end)), t


@examples(15)
@given(case=runnable, shards=st.sampled_from([2, 5]))
def test_shards_run_what_has_been_rewritten(case: tuple[Plan, History], shards: int) -> None:
    plan, history = case
    blueprint = Blueprint(rewrite(plan).plan)
    run = SimulatedShards(blueprint, shards)
    feeder = Feeder.of(blueprint.build(run.pool), BEGINNING)
    for t, kind, what in events_of(blueprint.plan, history):
        (feeder.arrive(what[0], t, what[1]) if kind == 0 else feeder.table_changed(what[0], t, *what[1:]))  # type: ignore[arg-type]
    log = OutputLog(plan.schema, run.pool)
    log.add(run.begin(BEGINNING - 1))
    end = max(history.last, 0) + AFTERWARDS
    log.add(run.process(feeder.batches(feeder.due(end)), end))
    reference = Reference(plan, history)
    for t in [*reference.instants(end), end]:
        assert close(reference.answer(t), log.answer(t)), t


@pytest.mark.slow
def test_every_rule_fires_in_the_drawn_plans() -> None:
    """A property test over plans to which a rule does not apply would prove nothing about it."""
    fired: Counter[str] = Counter()
    for family in FAMILIES:

        @seed(1)
        @exactly(250)
        @given(rule_cases(family).filter(lambda case: allowed(case[0])))
        def count(case: tuple[Plan, History]) -> None:
            fired.update({step.rule.name for step in rewrite(case[0]).steps})

        count()
    assert {rule.name: fired[rule.name] for rule in RULES if fired[rule.name] < 3} == {}
