"""Plans of every operator and window, all of two BIGINT columns so that any can stand on any."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from patterns.plans import (
    NRR,
    S1,
    S2,
    R,
    anti_join,
    group_by,
    join,
    negation,
    nrr_join,
    project,
    select,
    semi_join,
    top,
)
from thalweg.algebra.plan import Distinct, DStream, Intersect, IStream, JoinKind, Plan, RStream, Union, Windowed
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange, Window
from thalweg.core.types import DataType
from thalweg.patterns import Annotated

WINDOWS: list[Window] = [
    Range(3),
    Range(5),
    Range(4, 2),
    Range(3, 3),
    Now(),
    Rows(1),
    Rows(2),
    Rows(3, 2),
    Rows(2, 2),
    PartitionedRows((0,), 1),
    PartitionedRows((0,), 1, Range(4)),
    ValueRange(0, 2, DataType.BIGINT),
    Unbounded(),
    Landmark(3, 6),
]

UNARY: list[Callable[[Plan], Plan]] = [
    select,
    Distinct,
    top,
    lambda p: project(p, 1, 0),
    lambda p: project(p, 1, 1),
    lambda p: group_by(p, 0),
    lambda p: project(group_by(p), 0, 0),
    lambda p: project(nrr_join(p, NRR), 0, 3),
    lambda p: project(nrr_join(p, NRR, JoinKind.LEFT), 0, 3),
]
BINARY: list[Callable[[Plan, Plan], Plan]] = [
    Union,
    Intersect,
    semi_join,
    anti_join,
    negation,
    lambda left, right: project(join(left, right), 0, 3),
    lambda left, right: project(join(left, right, JoinKind.LEFT), 0, 3),
    lambda left, right: project(join(left, right, JoinKind.FULL), 0, 3),
]
EMITTING: list[Callable[[Plan], Plan]] = [IStream, DStream, RStream]


@st.composite
def plans(draw: st.DrawFn, *, streams: bool = True, relations: bool = True, depth: int = 3) -> Plan:
    """Any plan; without `streams` none with ISTREAM, DSTREAM or RSTREAM, without `relations` none with a relation."""
    window = st.sampled_from(WINDOWS)

    def leaf() -> Plan:
        kind = draw(st.sampled_from(["window", "window", "window", "stream", *["relation"] * relations]))
        if kind == "relation":
            return R
        stream = draw(st.sampled_from([S1, S2]))
        return Windowed(stream, draw(window)) if kind == "window" else stream

    def node(depth: int) -> Plan:
        kind = draw(st.sampled_from(["leaf", "unary", "binary", *["emitted"] * streams])) if depth else "leaf"
        match kind:
            case "unary":
                return draw(st.sampled_from(UNARY))(node(depth - 1))
            case "binary":
                return draw(st.sampled_from(BINARY))(node(depth - 1), node(depth - 1))
            case "emitted":
                emitted = draw(st.sampled_from(EMITTING))(node(depth - 1))
                return Windowed(emitted, draw(window)) if draw(st.booleans()) else emitted
        return leaf()

    return node(depth)


def operators(plan: Annotated) -> list[Annotated]:
    """All operators of a labelled plan, from the top."""
    return [plan, *(node for child in plan.children for node in operators(child))]
