"""Would catch a variant of the multi-way join that loses a result, repeats one, or shows one at another time.

Every algorithm, method, order and strategy must give the reference's answer at every instant. With an interval between
evaluations, a result alive during [s, e) must be shown during [T, max(e, T + 1)), T the first evaluation from s on.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from kernel.test_against_reference import AFTERWARDS, allowed, events_of, feed, summed
from reference.oracle.tables import close
from strategies.conditions import a_multi_join_condition
from strategies.dice import Dice
from strategies.effort import examples
from strategies.plans import cases
from strategies.windows import a_window
from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.algebra.expressions import TRUE, and_, call, column
from thalweg.algebra.plan import Distinct, IStream, Join, MultiJoin, Plan, RelationScan, StreamScan, Windowed, flatten
from thalweg.algebra.windows import Range, Rows
from thalweg.core.errors import PlanError, SnapshotError
from thalweg.core.rows import Bag, Change, Row
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Instant
from thalweg.core.types import DataType
from thalweg.cql import compile_query, compile_script
from thalweg.kernel.pipeline import Settings, Strategy, build
from thalweg.kernel.pipeline.settings import ALGORITHMS, JOINS
from thalweg.kernel.tuning import DEFAULT, Tuning
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History
from thalweg.runtime.local.kernel_run import FedRun, KernelRun
from thalweg.runtime.local.queued_run import QueuedRun

KEYS = [1, 1, 0, 1, None]


def a_setting(data: st.DataObject, join: str, algorithm: str, inputs: int, reevaluate: int = 0) -> Settings:
    order = data.draw(st.none() | st.permutations(range(inputs)), label="order")
    return Settings(
        lazy=data.draw(st.sampled_from([0, 3, 9]), label="lazy"),
        join=join,
        algorithm=algorithm,
        reevaluate=reevaluate,
        drift=data.draw(st.sampled_from([1.001, 2.0]), label="drift"),
        order=None if order is None else tuple(order),
        indexed=data.draw(st.sampled_from([None, (0,), (0, 2), (1, 2)]), label="indexed"),
    )


def run_all(run: KernelRun, plan: Plan, strategy: Strategy, history: History, data: st.DataObject) -> list[Change]:
    """What changes, with everything fed; perhaps read often, perhaps taken down and set up again in between."""
    events = events_of(plan, history)
    read_often = data.draw(st.booleans(), label="read after each event")
    restart = data.draw(st.none() | st.integers(0, len(events)), label="restart after so many events")
    changes: list[Change] = []
    for place, event in enumerate(events):
        feed(run, event)
        if read_often or place == restart:
            changes += run.changes(event[0], BEGINNING)
        if place == restart:
            run.restart(plan, strategy)
    return changes + run.changes(max(history.last, 0) + AFTERWARDS, BEGINNING)


# So small that a few tuples reach every path.
SMALL = Tuning(
    pairs_at_once=2,
    results_at_once=3,
    partials_at_once=3,
    comparisons_at_once=4,
    always_merge_runs_up_to=1,
    first_look_after=2,
    look_at_least_every=3,
    copy_matches_from_codes=1,
)


@pytest.fixture(scope="module", params=["small", "usual"])
def tuning(request: pytest.FixtureRequest) -> Tuning:
    return SMALL if request.param == "small" else DEFAULT


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [Strategy.AUTO, Strategy.NT], ids=lambda s: s.value)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("join", JOINS)
@examples(15)
@given(data=st.data())
def test_every_variant_gives_the_references_answer(
    tuning: Tuning, join: str, algorithm: str, strategy: Strategy, data: st.DataObject
) -> None:
    plan, history = data.draw(cases(root="multi-join", size=3).filter(lambda case: allowed(case[0])))
    assert isinstance(plan, MultiJoin)
    how = a_setting(data, join, algorithm, len(plan.inputs))
    if any(isinstance(node, MultiJoin) and len(node.inputs) != len(plan.inputs) for node in plan.walk()):
        how = Settings(join=join, algorithm=algorithm)
    run = KernelRun(plan, BEGINNING, strategy, data.draw(st.sampled_from([1_000_000, 1, 3, 7])), how, tuning)
    changes = run_all(run, plan, strategy, history, data)
    reference, end = Reference(plan, history), max(history.last, 0) + AFTERWARDS
    for t in [*reference.instants(end), end]:
        wanted, got = reference.answer(t), run.answer(t, end)
        note(f"t={t}: reference {wanted}, kernel {got}")
        assert close(wanted, got)
        assert close(wanted, summed(changes, t)), f"changes up to {t}: {changes}"


STREAMS = [Stream(name, Schema.of(k=DataType.BIGINT, n=DataType.BIGINT)) for name in "abc"]
TABLE = Relation("d", Schema.of(k=DataType.BIGINT, n=DataType.BIGINT))


@st.composite
def joins_of_distinct_rows(draw: st.DrawFn) -> tuple[MultiJoin, History]:
    """A join of windows and perhaps a table in which no two rows are alike, so that every result has one life."""
    dice = Dice(draw)
    inputs: list[Plan] = []
    for stream in STREAMS:
        usual = dice.pick([Range(4), Rows(2), Range(2), Rows(1), Range(9), a_window(dice, stream.schema)])
        window: Plan = Windowed(StreamScan(stream), usual)
        inputs.append(RelationScan(TABLE) if dice.chance(6) else window)
    if dice.chance(4):
        inputs[2] = inputs[1]
    every = MultiJoin(tuple(inputs), TRUE).schema
    condition = dice.pick(
        [
            and_([call("=", column(every, 0), column(every, 2)), call("=", column(every, 2), column(every, 4))]),
            and_([call("=", column(every, 0), column(every, 2)), call("<=", column(every, 2), column(every, 4))]),
            a_multi_join_condition(dice, [plan.schema for plan in inputs]),
        ]
    )
    history, t = History(), draw(st.integers(-2, 3))
    for number in range(dice.number(8, 18)):
        t += dice.pick([1, 0, 1, 2, 0, 3])
        row: Row = (dice.pick(KEYS), number)
        if dice.chance(5):
            present = history.relation(TABLE.name, t)
            if present and dice.chance(3):
                history.delete(TABLE.name, t, present[0].row)
            else:
                history.insert(TABLE.name, t, row)
        else:
            history.arrive(dice.pick(STREAMS).name, t, row)
    return MultiJoin(tuple(inputs), condition), history


def shown(plan: Plan, history: History, interval: int, first: Instant, last: Instant) -> dict[Instant, Bag]:
    """By instant what a join that is evaluated at an interval must show."""
    reference = Reference(plan, history)
    at = {t: reference.answer(t) for t in range(first, last + 1)}
    wanted: dict[Instant, Bag] = {t: Counter() for t in range(first, last + 1)}
    for s in range(first + 1, last + 1):
        for row in at[s]:
            if not at[s - 1][row]:
                e = next((t for t in range(s, last + 1) if not at[t][row]), last + interval)
                t = -(-s // interval) * interval
                for instant in range(t, min(max(e, t + 1), last + 1)):
                    wanted[instant][row] += 1
    return wanted


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [Strategy.AUTO, Strategy.NT], ids=lambda s: s.value)
@pytest.mark.parametrize("algorithm", ["naive", "lazy", "general-lazy"])
@pytest.mark.parametrize("join", JOINS)
@examples(15)
@given(data=st.data())
def test_an_interval_delays_results_and_loses_none(
    tuning: Tuning, join: str, algorithm: str, strategy: Strategy, data: st.DataObject
) -> None:
    plan, history = data.draw(joins_of_distinct_rows())
    interval = data.draw(st.sampled_from([1, 2, 3, 5, 20]), label="interval")
    how = a_setting(data, join, algorithm, len(plan.inputs), interval)
    run = KernelRun(plan, BEGINNING, strategy, data.draw(st.sampled_from([1_000_000, 1, 3])), how, tuning)
    changes = run_all(run, plan, strategy, history, data)
    first, end = -4, max(history.last, 0) + AFTERWARDS
    for t, wanted in shown(plan, history, interval, first, end).items():
        got = run.answer(t, end)
        note(f"t={t}: wanted {wanted}, kernel {got}")
        assert wanted == got
        assert wanted == summed(changes, t), f"changes up to {t}: {changes}"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"join": "merge"}, "there is no join 'merge'"),
        ({"algorithm": "lazier"}, "there is no algorithm 'lazier'"),
        ({"reevaluate": 5}, "the algorithm eager evaluates a join with every arrival, not every 5 ticks"),
        ({"reevaluate": -1, "algorithm": "lazy"}, "reevaluate must be at least 0, not -1"),
        ({"drift": 1.0}, "drift is a factor greater than 1, not 1.0"),
    ],
)
def test_settings_that_say_nothing_are_refused(wrong: dict[str, str | int | float], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        Settings(**wrong)  # type: ignore[arg-type]


def test_joins_that_settings_do_not_fit_are_refused() -> None:
    windows = tuple(Windowed(StreamScan(stream), Range(5)) for stream in STREAMS)
    lazy = Settings(algorithm="lazy", reevaluate=5)
    with pytest.raises(PlanError, match="does not name each of the join's 3 inputs, 0 to 2, once"):
        build(MultiJoin(windows, TRUE), settings=Settings(order=(0, 1)))
    with pytest.raises(PlanError, match="the strategy piggyback evaluates a join with every tuple"):
        build(MultiJoin(windows, TRUE), Strategy.PIGGYBACK, settings=lazy)
    with pytest.raises(PlanError, match="but Distinct below it may delete a tuple and emit it again later"):
        build(MultiJoin((Distinct(windows[0]), *windows[1:]), TRUE), settings=lazy)


def test_a_snapshot_of_other_indexes_is_refused() -> None:
    windows = tuple(Windowed(StreamScan(stream), Range(5)) for stream in STREAMS)
    every = MultiJoin(windows, TRUE).schema
    equal = and_([call("=", column(every, 0), column(every, 2)), call("=", column(every, 2), column(every, 4))])
    plan = MultiJoin(windows, equal)
    tree = build(plan, settings=Settings(join="hash")).snapshot()
    with pytest.raises(SnapshotError, match="it was taken of one with other indexes"):
        build(plan, settings=Settings(join="nested-loops")).restore(tree)


# GolabOzsu2003, Tables 2 and 3: at 210, S1 has 90 and 100, S2 150 and 180, S3 195 and 205; all windows are of 100.
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("join", JOINS)
def test_the_results_of_table_3_and_none_of_the_incorrect_ones(tuning: Tuning, join: str, algorithm: str) -> None:
    windows = tuple(Windowed(StreamScan(stream), Range(100)) for stream in STREAMS)
    every = MultiJoin(windows, TRUE).schema
    equal = and_([call("=", column(every, 0), column(every, 2)), call("=", column(every, 2), column(every, 4))])
    interval = 0 if algorithm == "eager" else 70  # one evaluation at 210, when the tuple of 100 has ended
    plan = IStream(MultiJoin(windows, equal))
    how = Settings(join=join, algorithm=algorithm, reevaluate=interval)
    run = KernelRun(plan, BEGINNING, Strategy.AUTO, settings=how, tuning=tuning)
    for name, ts in (("a", 90), ("a", 100), ("b", 150), ("b", 180), ("c", 195), ("c", 205)):
        run.arrive(name, ts, (1, ts))
    assert run.answer(210, 210) == {(1, 100, 1, 150, 1, 195): 1, (1, 100, 1, 180, 1, 195): 1}
    metrics = next(m for m in run.metrics() if m.operator.endswith("MultiJoin"))
    assert metrics.comparisons >= 2 and metrics.orders.count("|") == 2


CQL = """
SELECT s1.attr, s2.ts AS second, s4.ts AS fourth
FROM s1 [RANGE 6], s2 [ROWS 3], s3 [RANGE 9 SLIDE 2], s1 [RANGE 4] AS s4
WHERE s1.attr = s2.attr AND s2.attr = s3.attr AND s4.ts <= s3.ts AND s4.attr = s1.attr
"""


@pytest.mark.parametrize(
    "strategy", [s for s in Strategy if s not in (Strategy.DIRECT, Strategy.ITA)], ids=lambda s: s.value
)
def test_a_query_in_cql_runs_flattened_under_every_strategy(tuning: Tuning, strategy: Strategy) -> None:
    catalog = Catalog()
    compile_script("".join(f"CREATE STREAM s{i} (ts INT, attr INT);" for i in (1, 2, 3)), catalog)
    tree = compile_query(CQL, catalog)
    plan = flatten(tree)
    assert sum(isinstance(node, MultiJoin) for node in plan.walk()) == 1
    assert not any(isinstance(node, Join) for node in plan.walk())
    history = History()
    for t in range(40):
        history.arrive(f"s{t * 7 % 3 + 1}", t // 2, (t // 2, t // 3 % 2))
    run: FedRun
    if strategy.is_queued:
        run = QueuedRun(plan, BEGINNING, strategy, tuning=tuning)
    else:
        run = KernelRun(plan, BEGINNING, strategy, tuning=tuning)
    for event in events_of(plan, history):
        feed(run, event)
    reference, end = Reference(tree, history), 40
    answers = [(reference.answer(t), run.answer(t, end)) for t in range(end + 1)]
    assert any(wanted.total() > 3 for wanted, _ in answers)  # there is something to compare
    assert all(wanted == got for wanted, got in answers)
