"""Would catch an operator that forgets something, a snapshot that changes later, or one restored into another plan."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.feeds import Signed
from kernel.steps import Output, Step, steps, take
from kernel.walk import differences
from strategies.catalog import S, U
from strategies.effort import examples
from strategies.plans import OPERATORS, cases
from thalweg.algebra.expressions import Column, Literal, call
from thalweg.algebra.plan import Distinct, Plan, Select, StreamScan, Windowed
from thalweg.algebra.windows import Rows
from thalweg.core.errors import PlanError, SnapshotError
from thalweg.core.time import BEGINNING, FOREVER
from thalweg.core.types import DataType
from thalweg.kernel.operator import Operator
from thalweg.kernel.operators.negate import Negate
from thalweg.kernel.operators.project import Project
from thalweg.kernel.operators.select import Select as Selection
from thalweg.kernel.operators.union import Union
from thalweg.kernel.pipeline import Pipeline, Strategy, build
from thalweg.kernel.pipeline.settings import Settings
from thalweg.patterns import check
from thalweg.reference.history import History

STATELESS = {Selection, Project, Union, Negate}
AFTERWARDS = 14  # ticks after the last event: the longest drawn window has emptied
CASES = [
    *((kind, strategy) for kind in OPERATORS for strategy in (Strategy.AUTO, Strategy.NT, Strategy.ORD)),
    *((kind, Strategy.DIRECT) for kind in ("window", "select", "join", "distinct")),  # few others ever can
]


def runs(plan: Plan, strategy: Strategy) -> bool:
    try:
        check(plan)
        build(plan, strategy)
    except PlanError:
        return False
    return True


def begun(plan: Plan, strategy: Strategy) -> Pipeline:
    pipeline = build(plan, strategy)
    pipeline.begin(BEGINNING)
    return pipeline


def go_on(pipeline: Pipeline, rest: list[Step]) -> list[Output]:
    return [take(pipeline, step) for step in rest]


@pytest.mark.parametrize(("kind", "strategy"), CASES)
@examples(6)
@given(data=st.data())
def test_a_restored_pipeline_goes_on_as_if_nothing_had_happened(
    kind: str, strategy: Strategy, data: st.DataObject
) -> None:
    plan, history = data.draw(cases(root=kind).filter(lambda case: runs(case[0], strategy)))
    all_ = steps(plan, history, data.draw(st.sampled_from([1000, 1, 7, 2]), label="batch size"), AFTERWARDS)
    cut = data.draw(st.integers(0, len(all_)), label="steps before the snapshot")
    original = begun(plan, strategy)
    go_on(original, all_[:cut])

    tree = original.snapshot()
    as_taken = deepcopy(tree)
    restored = build(plan, strategy)
    restored.restore(tree)
    assert not list(differences(original, restored))

    wanted = go_on(original, all_[cut:])
    assert go_on(restored, all_[cut:]) == wanted
    assert restored.metrics == original.metrics
    assert not list(differences(tree, as_taken)), "the snapshot was changed by what came later"

    again = build(plan, strategy)
    again.restore(tree)
    assert go_on(again, all_[cut:]) == wanted
    original.restore(tree)
    assert go_on(original, all_[cut:]) == wanted


@pytest.mark.parametrize("kind", ["join", "outer join", "semi-join"])
@examples(30)
@given(data=st.data())
def test_a_restored_pipeline_may_have_other_settings(kind: str, data: st.DataObject) -> None:
    plan, history = data.draw(cases(root=kind).filter(lambda case: runs(case[0], Strategy.AUTO)))
    all_ = steps(plan, history, data.draw(st.sampled_from([1, 2, 7]), label="batch size"), AFTERWARDS)
    cut = data.draw(st.integers(0, len(all_)), label="steps before the snapshot")
    several = [Settings(partitions, lazy) for partitions in (1, 3, 10) for lazy in (0, 5)]
    first, then = data.draw(st.permutations(several), label="settings")[:2]
    original, restored = build(plan, settings=first), build(plan, settings=then)
    original.begin(BEGINNING)
    go_on(original, all_[:cut])
    restored.restore(original.snapshot())
    assert go_on(restored, all_[cut:]) == go_on(original, all_[cut:])


def test_every_operator_with_state_names_it() -> None:
    known, kinds = set[type[Operator]](), [Operator]
    while kinds:
        found = [kind for kind in kinds.pop().__subclasses__() if kind.__module__.startswith("thalweg.")]
        known.update(found)
        kinds += found
    assert {kind for kind in known if not kind.KEPT} <= STATELESS


def test_snapshots_share_what_does_not_change() -> None:
    pipeline = begun(Windowed(StreamScan(S), Rows(3, 2)), Strategy.NT)
    for step in steps(StreamScan(S), _some_history(), 2, AFTERWARDS):
        take(pipeline, step)
    first, second = pipeline.snapshot(), pipeline.snapshot()
    expire = [tree["operators"][-1]["_ends"]["_runs"] for tree in (first, second)]
    assert all(a is b for one, other in zip(*expire, strict=True) for a, b in zip(one, other, strict=True))


def _some_history() -> History:
    history = History()
    for t in range(6):
        history.arrive("s", t, (t, t))
    return history


def test_a_snapshot_of_another_plan_is_refused() -> None:
    window = Windowed(StreamScan(S), Rows(3))
    tree = begun(Distinct(window), Strategy.AUTO).snapshot()
    with pytest.raises(SnapshotError, match=r"(?s)expected a snapshot of the plan\n +Window.*taken of\n +Distinct"):
        build(window).restore(tree)
    with pytest.raises(SnapshotError, match="expected a snapshot of strategy nt, but it was taken of strategy auto"):
        build(Distinct(window), Strategy.NT).restore(tree)
    with pytest.raises(SnapshotError, match=r"of the operators source s, physical-window, .*distinct, but"):
        build(Distinct(window)).restore(tree | {"nodes": ["source s"]})
    with pytest.raises(SnapshotError, match="it has no identity of a plan"):
        build(window).restore({"operators": []})


# What another process makes of the words "a" and "b", which are drawn from a set and so may come in any order.
ELSEWHERE = """
import pickle, sys
from kernel.test_snapshots import NAMES, Step, begun, named, take
from thalweg.kernel.pipeline import Strategy
pipeline = begun(NAMES, Strategy.AUTO)
take(pipeline, Step(1, {"u": [named(word, 1) for word in {"a", "b"}]}))
sys.stdout.buffer.write(pickle.dumps(pipeline.snapshot()))
"""
NAMES = Distinct(Select(StreamScan(U), call("<>", Column(2, DataType.STRING), Literal("c", DataType.STRING))))


def named(word: str, t: int) -> Signed:
    return Signed((1, 0.5, word), t, FOREVER, 1, t, FOREVER)


def test_a_snapshot_of_another_process_is_understood() -> None:
    path = os.pathsep.join(p for p in sys.path if p)
    child = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], env=os.environ | {"PYTHONPATH": path}, capture_output=True, check=True
    )
    pipeline = build(NAMES)
    pipeline.restore(pickle.loads(child.stdout))
    gained = take(pipeline, Step(2, {"u": [named(word, 2) for word in ("b", "c", "d", "a")]}))
    assert [signed.row[2] for signed in gained] == ["d"]


def test_names_for_people_do_not_make_another_plan() -> None:
    def positive(name: str) -> Plan:
        condition = call(">", Column(0, DataType.BIGINT, name), Literal(0, DataType.BIGINT))
        return Select(Windowed(StreamScan(S), Rows(3)), condition)

    build(positive("k")).restore(begun(positive("s.k"), Strategy.AUTO).snapshot())


def test_a_pool_with_other_strings_is_refused() -> None:
    window = Windowed(StreamScan(S), Rows(3))
    taken, other = begun(window, Strategy.AUTO), build(window)
    taken.pool.code("a")
    other.pool.code("b")
    with pytest.raises(SnapshotError, match="string 0 of the snapshot is 'a', but here it is 'b' already"):
        other.restore(taken.snapshot())
