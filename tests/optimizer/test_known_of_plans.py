"""Would catch a key that two rows share, or a fact that is not true of every row, at any instant."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cql.catalogue import plan_of
from kernel.test_against_reference import AFTERWARDS, allowed
from optimizer.drawn import rule_cases
from strategies.catalog import S
from strategies.effort import examples
from strategies.plans import cases
from thalweg.algebra.expressions import TRUE, Column
from thalweg.algebra.plan import MultiJoin, Named, Plan, Project, RelationScan, StreamScan
from thalweg.core.rows import Row
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.optimizer.facts import facts, is_plain
from thalweg.optimizer.keys import is_unique, keys
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History
from thalweg.reference.scalars import evaluate

many = examples(150)
any_case = st.one_of(rule_cases(), cases()).filter(lambda case: allowed(case[0]))


def contents(node: Plan, history: History) -> list[tuple[Instant, list[Row]]]:
    """All rows of a plan, instant by instant."""
    reference = Reference(node, history)
    end = max(history.last, 0) + AFTERWARDS
    return [(t, [d.row for d in reference.tuples(t)]) for t in [*reference.instants(end), end]]


@many
@given(any_case)
def test_no_two_rows_agree_on_a_key(case: tuple[Plan, History]) -> None:
    plan, history = case
    for node in plan.walk():
        for key in keys(node):
            for t, rows in contents(node, history):
                seen = Counter(tuple(row[i] for i in sorted(key)) for row in rows)
                assert all(n == 1 for n in seen.values()), f"{sorted(key)} of {node} at {t}: {seen}"


@many
@given(any_case)
def test_facts_are_true_of_every_row(case: tuple[Plan, History]) -> None:
    plan, history = case
    for node in plan.walk():
        for fact in facts(node):
            for t, rows in contents(node, history):
                assert all(evaluate(fact, row) is True for row in rows), f"{fact} of {node} at {t}: {rows}"


def test_a_primary_key_is_one_also_behind_joins() -> None:
    relation = plan_of("SELECT * FROM rel")
    assert isinstance(relation, RelationScan) and keys(relation) == {frozenset({0})}
    joined = plan_of("SELECT * FROM s [PARTITION BY a ROWS 1] JOIN rel ON s.a = rel.k")
    assert is_unique(joined, [0]) and is_unique(joined, [3])
    several = plan_of("SELECT * FROM s [PARTITION BY b ROWS 1] JOIN rel ON s.a = rel.k")
    assert is_unique(several, [1]) and not is_unique(several, [3])


def test_an_nrrs_key_is_none_behind_its_join() -> None:
    """Its row may meet one tuple before an update and another one after it."""
    met = plan_of("SELECT * FROM s [PARTITION BY a ROWS 1] JOIN meta ON s.b = meta.label")
    assert is_unique(met, [0, 3]) and not is_unique(met, [3])


def test_of_a_column_of_a_multi_way_join_nothing_is_asked() -> None:
    narrow = Project(StreamScan(S), (Named(Column(0, DataType.BIGINT), "k"),))
    joined = MultiJoin((narrow, StreamScan(S), StreamScan(S)), TRUE)
    assert is_plain(narrow, 0)
    assert [is_plain(joined, index) for index in range(len(joined.schema))] == [False] * 5
