"""Would catch one-time SQL that does not parse, reads a constant as a position, or pretends that ISTREAM has a form."""

from __future__ import annotations

from collections import Counter

import pytest
import sqlglot
from hypothesis import assume, given

from reference.by_hand import NRR, STREAMS, col, equal, history_of, over
from reference.oracle.one_time import duckdb_answer
from strategies.effort import examples
from strategies.plans import plans
from thalweg.algebra.expressions import Aggregate, literal
from thalweg.algebra.expressions.render import Dialect
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    IStream,
    Named,
    NamedAggregate,
    Negation,
    NrrJoin,
    Plan,
    PlanNode,
    RStream,
    Select,
    SortKey,
    TopK,
)
from thalweg.algebra.sql import one_time_sql
from thalweg.algebra.windows import Range, Unbounded
from thalweg.core.errors import PlanError
from thalweg.core.schema import Schema

WINDOW = over("s", Unbounded())


def sql(plan: Plan, dialect: Dialect = Dialect.DUCKDB, dated: bool = False) -> str:
    return one_time_sql(plan, dialect, lambda leaf: "leaf", dated=dated)


@pytest.mark.parametrize("dialect", Dialect)
@examples(60)
@given(plan=plans(in_sql=True))
def test_every_plan_parses_in_both_dialects(dialect: Dialect, plan: Plan) -> None:
    below_windows = {id(n) for w in plan.walk() if w.label == "Window" for n in w.walk() if n is not w}
    assume(not any(isinstance(n, IStream | DStream | RStream) and id(n) not in below_windows for n in plan.walk()))
    for dated in (False, True):
        parsed = sqlglot.parse_one(sql(plan, dialect, dated), dialect=dialect.value)
        assert isinstance(parsed, sqlglot.exp.Query)
        names = [f"c{i}" for i in range(len(plan.schema))] + ["ts_", "exp_"] * dated
        assert parsed.named_selects == names or parsed.named_selects == ["*"]


@pytest.mark.parametrize("operator", [IStream, DStream, RStream])
def test_stream_operators_have_no_one_time_form(operator: type[IStream] | type[DStream] | type[RStream]) -> None:
    with pytest.raises(PlanError, match=rf"{operator.__name__.upper()} has no one-time form"):
        sql(Select(operator(WINDOW), literal(True)))


def test_a_window_is_a_leaf_whatever_stands_below_it() -> None:
    asked: list[Plan] = []

    def leaf(node: Plan) -> str:
        asked.append(node)
        return "leaf"

    window = WINDOW.with_children(IStream(over("s", Range(3))))
    assert one_time_sql(Distinct(window), Dialect.DUCKDB, leaf).count("leaf") == 1
    assert asked == [window]


def test_dates_are_rendered_only_where_rows_depend_on_them() -> None:
    whole = tuple((i, i) for i in range(2))
    assert "EXCEPT ALL" in sql(Negation(WINDOW, WINDOW, whole))
    assert "ts_" not in sql(Distinct(Negation(WINDOW, WINDOW, whole)))
    assert "ROW_NUMBER" in sql(Negation(WINDOW, WINDOW, whole), dated=True)
    assert "ROW_NUMBER" in sql(Negation(WINDOW, WINDOW, ((0, 0),)))


def test_an_nrr_can_only_be_selected_and_projected() -> None:
    with pytest.raises(PlanError, match="but not put through Distinct") as raised:
        sql(NrrJoin(WINDOW, Distinct(NRR), equal(WINDOW, 0, NRR, 0)))
    assert raised.value.hint == "join the NRR itself and apply the rest above the join"


def test_an_operator_without_sql_is_an_error_also_at_run_time() -> None:
    class Strange(PlanNode):
        @property
        def schema(self) -> Schema:
            return Schema(())

    with pytest.raises(AssertionError, match="Strange"):
        sql(Strange())  # type: ignore[arg-type]


def test_constants_are_no_positions() -> None:
    history = history_of(s=[(1, (1, 3)), (1, (2, 1))])
    ordered = TopK(WINDOW, (SortKey(literal(2)), SortKey(literal(True))), 1)
    assert duckdb_answer(ordered, history, 1) == Counter([(1, 3)])
    grouped = GroupBy(WINDOW, (Named(literal(2), "two"),), (NamedAggregate(Aggregate.of("max", col(WINDOW, 1)), "m"),))
    assert duckdb_answer(grouped, history, 1) == Counter([(2, 3)])


def test_a_sum_that_does_not_fit_is_null_whatever_the_order() -> None:
    big = 2**62
    total = GroupBy(WINDOW, (), (NamedAggregate(Aggregate.of("sum", col(WINDOW, 1)), "v"),))
    fits = history_of(s=[(1, (1, big)), (1, (1, big)), (1, (1, -big))])
    assert duckdb_answer(total, fits, 1) == Counter([(big,)])
    fits.arrive("s", 2, (1, big))
    assert duckdb_answer(total, fits, 2) == Counter([(None,)])


def test_spark_sums_beyond_64_bits_too() -> None:
    total = GroupBy(STREAMS["s"], (), (NamedAggregate(Aggregate.of("sum", col(WINDOW, 1), distinct=True), "v"),))
    assert "TRY_CAST(SUM(DISTINCT CAST(a0 AS DECIMAL(38, 0))) AS BIGINT)" in sql(total, Dialect.SPARK)
