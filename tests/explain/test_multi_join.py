"""Would catch an EXPLAIN that says nothing, or the wrong thing, of a multi-way join."""

from __future__ import annotations

from strategies.catalog import R, S, T, U
from thalweg.algebra.expressions import TRUE, and_, call, column
from thalweg.algebra.plan import MultiJoin, Plan, RelationScan, StreamScan, Windowed
from thalweg.algebra.windows import Range, Rows
from thalweg.explain import explain_json, explain_text
from thalweg.explain.describe import describe
from thalweg.patterns import BufferContents, BufferKind, Pattern


def multi(*inputs: Plan) -> MultiJoin:
    schema = MultiJoin(inputs, TRUE).schema
    starts = MultiJoin(inputs, TRUE).offsets[1:-1]
    return MultiJoin(inputs, and_([call("=", column(schema, 0), column(schema, i)) for i in starts]))


def test_windows_are_kept_by_their_patterns_and_their_results_are_weak() -> None:
    plan = multi(*(Windowed(StreamScan(source), Range(9)) for source in (S, T)), Windowed(StreamScan(U), Rows(3)))
    described = describe(plan)
    assert described.edge.pattern is Pattern.WK
    assert [b.kind for b in described.buffers] == [BufferKind.FIFO, BufferKind.FIFO, BufferKind.HASH]
    assert {b.holds for b in described.buffers} == {BufferContents.EACH}
    assert described.bound.text == "2 x tuples of the last 9 ticks + 3 tuples"
    text = explain_text(plan)
    assert "MultiJoin (k = k) AND (k = k)" in text and text.count("─ Window") == 3
    assert explain_json(plan)["buffer"][0]["holds"] == "one of the inputs"


def test_a_relation_makes_it_strict_and_a_stream_makes_it_grow() -> None:
    plan = multi(Windowed(StreamScan(S), Range(9)), RelationScan(R), StreamScan(T))
    described = describe(plan)
    assert described.edge.pattern is Pattern.STR
    assert described.bound.grows_with == ("stream t",)
    assert describe(multi(*(StreamScan(source) for source in (S, T, U)))).edge.pattern is Pattern.MON
