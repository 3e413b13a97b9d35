"""Would catch plans that are wrongly taken for select-project-join queries, and such queries that are not known."""

from __future__ import annotations

import pytest

from strategies.catalog import R, S, T
from thalweg.algebra.expressions import call, column, literal
from thalweg.algebra.plan import (
    Distinct,
    IStream,
    Join,
    JoinKind,
    MultiJoin,
    Named,
    Plan,
    Project,
    RelationScan,
    Select,
    StreamScan,
    Union,
    Windowed,
)
from thalweg.algebra.windows import Now, PartitionedRows, Range, Rows, Unbounded
from thalweg.flows.eddy import Use, spj

K, V = column(S.schema, 0), column(S.schema, 1)
LARGE = call(">", V, literal(5))
STREAM = StreamScan(S)
EQUAL = call("=", K, column(S.schema + T.schema, 2))


def test_selections_and_projections_come_together() -> None:
    doubled = Project(STREAM, (Named(call("+", V, V), "w"), Named(K, "k")))
    plan = Select(Windowed(Select(doubled, call("<", column(doubled.schema, 0), literal(8))), Range(4)), LARGE_KEY)
    found = spj(plan)
    assert found is not None and found.uses == (Use("s", Range(4)),)
    twice = call("+", V, V)
    assert found.predicate == call("and", call("<", twice, literal(8)), call("=", K, literal(1)))
    assert found.items == (Named(twice, "w"), Named(K, "k"))


LARGE_KEY = call("=", column(Project(STREAM, (Named(V, "w"), Named(K, "k"))).schema, 1), literal(1))


def test_joins_of_any_shape() -> None:
    windowed = Windowed(STREAM, Rows(3))
    other = Select(Windowed(StreamScan(T), Now()), LARGE)
    found = spj(Join(windowed, other, EQUAL))
    assert found is not None and found.uses == (Use("s", Rows(3)), Use("t", Now()))
    assert found.predicate == call("and", call(">", column(S.schema + T.schema, 3), literal(5)), EQUAL)
    three = spj(MultiJoin((windowed, windowed, other), EQUAL))
    nested = spj(Join(Join(windowed, windowed, EQUAL), other, literal(True)))
    assert three is not None and nested is not None and three.uses == nested.uses
    assert spj(STREAM) is not None and spj(Windowed(STREAM, Unbounded())) is not None


@pytest.mark.parametrize(
    "plan",
    [
        Windowed(STREAM, Range(4, 2)),
        Windowed(STREAM, Rows(4, 2)),
        Windowed(STREAM, PartitionedRows((0,), 2, None)),
        Windowed(Select(STREAM, LARGE), Rows(3)),  # counts what the selection left
        Distinct(Windowed(STREAM, Range(4))),
        RelationScan(R),
        Select(Distinct(STREAM), LARGE),
        Join(Windowed(STREAM, Range(4)), Windowed(StreamScan(T), Range(4)), EQUAL, JoinKind.LEFT),
        Join(Windowed(STREAM, Range(4)), RelationScan(R), call("=", K, K)),
        Union(STREAM, StreamScan(T)),
        Windowed(Join(STREAM, StreamScan(T), EQUAL), Range(4)),
        IStream(Windowed(STREAM, Range(4))),
        Windowed(IStream(Windowed(STREAM, Range(4))), Range(4)),
    ],
    ids=lambda plan: f"{plan.label} {plan.detail}",
)
def test_everything_else_is_not(plan: Plan) -> None:
    assert spj(plan) is None
