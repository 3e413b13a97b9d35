"""Plans of every operator and window, all of two BIGINT columns so that any can stand on any."""

from __future__ import annotations

from hypothesis import strategies as st

from patterns.plans import (
    NRR,
    PAIR,
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
from strategies.windows import windows
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    Intersect,
    IStream,
    JoinKind,
    Plan,
    RStream,
    StreamScan,
    Union,
    Windowed,
)
from thalweg.patterns import Annotated

_STREAMS: st.SearchStrategy[StreamScan] = st.sampled_from([S1, S2])
_KINDS = st.sampled_from(JoinKind)
_NRR_KINDS = st.sampled_from([JoinKind.INNER, JoinKind.LEFT])


def leaves(*, relations: bool = True) -> st.SearchStrategy[Plan]:
    """Windows, streams and, unless unwanted, a relation."""
    windowed: st.SearchStrategy[Plan] = st.builds(Windowed, _STREAMS, windows(PAIR))
    found: st.SearchStrategy[Plan] = windowed | _STREAMS
    return found | st.just(R) if relations else found


def plans(*, streams: bool = True, relations: bool = True) -> st.SearchStrategy[Plan]:
    """Any plan; without `streams` none with ISTREAM, DSTREAM or RSTREAM, without `relations` none with a relation."""

    def grow(below: st.SearchStrategy[Plan]) -> st.SearchStrategy[Plan]:
        steps: list[st.SearchStrategy[Plan]] = [
            below.map(select),
            below.map(lambda p: project(p, 1, 0)),
            below.map(lambda p: project(p, 1, 1)),
            st.builds(Union, below, below),
            st.builds(_joined, below, below, _KINDS),
            st.builds(_met, below, _NRR_KINDS),
            st.builds(semi_join, below, below),
            st.builds(anti_join, below, below),
            st.builds(Intersect, below, below),
            st.builds(negation, below, below),
            st.builds(Distinct, below),
            below.map(lambda p: group_by(p, 0)),
            below.map(lambda p: project(group_by(p), 0, 0)),
            st.builds(top, below, st.integers(1, 2)),
        ]
        if streams:
            emitted: st.SearchStrategy[Plan] = (
                st.builds(IStream, below) | st.builds(DStream, below) | st.builds(RStream, below)
            )
            steps += [emitted, st.builds(Windowed, emitted, windows(PAIR))]
        return st.one_of(steps)

    return st.recursive(leaves(relations=relations), grow, max_leaves=4)


def operators(plan: Annotated) -> list[Annotated]:
    """All operators of a labelled plan, from the top."""
    return [plan, *(node for child in plan.children for node in operators(child))]


def _joined(left: Plan, right: Plan, kind: JoinKind) -> Plan:
    return project(join(left, right, kind), 0, 3)


def _met(left: Plan, kind: JoinKind) -> Plan:
    return project(nrr_join(left, NRR, kind), 0, 3)
