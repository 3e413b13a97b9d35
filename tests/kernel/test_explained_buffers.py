"""Would catch an EXPLAIN that names a buffer the kernel does not have, or leaves out one that it uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.test_against_reference import allowed, events_of, feed
from strategies.catalog import S, T, catalog_of
from strategies.effort import examples
from strategies.histories import histories
from strategies.plans import OPERATORS, cases
from thalweg.algebra.expressions import and_, call, column
from thalweg.algebra.plan import Join, Plan, StreamScan, Windowed
from thalweg.algebra.windows import PartitionedRows, Range, Rows, Window
from thalweg.core.time import BEGINNING
from thalweg.explain.describe import describe
from thalweg.kernel.aggregates.contenders import SignedEnds
from thalweg.kernel.aggregates.deduplicated import DistinctAggregate, GroupPresence
from thalweg.kernel.aggregates.staircase import Staircase
from thalweg.kernel.aggregates.whole_bag import WholeBag
from thalweg.kernel.operators.delta_star import DeltaStar
from thalweg.kernel.operators.r_stream import RStream
from thalweg.kernel.pipeline import Strategy
from thalweg.kernel.state.buffers import FifoBuffer, GroupArray, KeyedBuffer, PartitionedBuffer, SequentialBuffer
from thalweg.kernel.state.buffers.order_index import OrderIndex
from thalweg.kernel.state.queues import Queues
from thalweg.kernel.state.timeline import Timeline
from thalweg.kernel.state.versions import VersionStore
from thalweg.kernel.sweep.negation_left import NegationLeft
from thalweg.kernel.sweep.top_k_state import TopKState
from thalweg.patterns import BufferKind
from thalweg.reference.history import History
from thalweg.runtime.local.kernel_run import KernelRun

Use = tuple[BufferKind, bool]  # a buffer of the kernel, and whether anything is in it

LISTS = {BufferKind.LOG, BufferKind.FIFO}  # one file: a log is a list from which nothing leaves


def uses(thing: Any) -> Iterator[Use]:
    """All buffers inside an operator; what larger structures are made of is theirs."""
    match thing:
        case FifoBuffer():
            yield BufferKind.FIFO, len(thing) > 0
        case PartitionedBuffer():
            yield BufferKind.PARTITIONS, len(thing) > 0
        case KeyedBuffer() | VersionStore():
            yield BufferKind.HASH, len(thing) > 0
        case SequentialBuffer():
            raise AssertionError("no pattern calls for a sequence as the side of a join")
        case OrderIndex():
            yield BufferKind.CATALOGUES, len(thing) > 0
        case Timeline():
            yield BufferKind.TIMELINE, len(thing) > 0
        case GroupArray():
            yield BufferKind.ARRAY, len(thing) > 0
        case Queues():
            yield BufferKind.QUEUES, bool((thing.last > thing.first).any())
        case TopKState():
            yield BufferKind.RANKED, thing.stored > 0
        case Staircase():
            yield BufferKind.STAIRCASE, len(thing) > 0
        case RStream():
            yield BufferKind.SEQUENCE, thing.stored > 0
        case SignedEnds():
            yield BufferKind.HASH, thing.stored > 0
        case DeltaStar() | GroupPresence():
            yield BufferKind.DELTA, thing.stored > 0
        case DistinctAggregate() if isinstance(thing._elimination, DeltaStar):
            yield BufferKind.DELTA, thing.stored > 0
        case WholeBag():
            yield BufferKind.HASH, thing._value_count > 0
            yield from inside(thing)
        case NegationLeft():
            yield BufferKind.ARRAY, False  # `top` counts the right tuples by value
            yield from inside(thing)
        case _ if type(thing).__module__.startswith("thalweg.kernel."):
            yield from inside(thing)
        case list() | tuple():
            for item in thing:
                yield from uses(item)


def inside(thing: Any) -> Iterator[Use]:
    for value in getattr(thing, "__dict__", {}).values():
        yield from uses(value)


def explained(plan: Plan) -> set[BufferKind]:
    kinds = {buffer.kind for operator in describe(plan).walk() for buffer in operator.buffers}
    return {BufferKind.FIFO if kind in LISTS else kind for kind in kinds}


@examples(60)
@given(data=st.data())
def test_also_of_joins_by_order(data: st.DataObject) -> None:
    s, t = (StreamScan(stream) for stream in (S, T))
    windows: list[Window] = [Rows(3), PartitionedRows((0,), 2, Range(4)), Range(3)]
    left, right = (Windowed(stream, data.draw(st.sampled_from(windows))) for stream in (s, t))
    both = left.schema + right.schema
    k, v, k2, v2 = (column(both, i) for i in range(4))
    plan = Join(left, right, and_([call("=", k, k2), call("<=", v, v2)]))
    hold(plan, data.draw(histories(catalog_of(plan))))


@pytest.mark.parametrize("root", OPERATORS)
@examples(15)
@given(data=st.data())
def test_explain_names_what_the_kernel_uses(root: str, data: st.DataObject) -> None:
    hold(*data.draw(cases(root=root).filter(lambda case: allowed(case[0]))))


def hold(plan: Plan, history: History) -> None:
    run = KernelRun(plan, BEGINNING, Strategy.AUTO, 2)
    filled: set[BufferKind] = set()
    for event in events_of(plan, history):
        feed(run, event)
        run.answer(event[0], event[0])
        there = {use for node in run._pipeline.nodes for use in uses(node.operator)}
        filled |= {kind for kind, used in there if used}
    assert filled <= explained(plan)
    there = {use for node in run._pipeline.nodes for use in uses(node.operator)}
    assert explained(plan) <= {kind for kind, _ in there}
