"""One join of four windows against trees of binary joins, whose intermediate results are large.

Four windows meet by an attribute, five or ten tuples of a value in each, and few of the results fulfil a condition over
all four. All windows are alike, so that no order is better than another. The trees are left-deep, which is what plans
are made of, and bushy, which has the smallest intermediate results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thalweg.algebra.expressions import Expression, and_, call, column, literal
from thalweg.algebra.plan import Join, MultiJoin, Plan, unflatten
from thalweg.bench.joins.workload import Workload, measure_all
from thalweg.bench.result import Result
from thalweg.core.schema import Schema

NO_SLOWER = 1.0
A_THIRD = 1 / 3
WORKLOADS = tuple(Workload(((1, window, values),) * 4) for window, values in ((500, 100), (1_000, 100), (2_500, 500)))
BATCH = 400


def trees(workloads: Sequence[Workload] = WORKLOADS, batches: int = 3, rounds: int = 8) -> Iterator[Result]:
    """Time against the fastest tree of a shape, and what is stored against the one that stores least."""
    for workload in workloads:
        (_, window, values), *_ = workload.streams
        multi = workload.join([_few(workload.join().schema)])
        plans = [multi, *_left_deep(multi), _bushy(multi)]
        ours, *left_deep, bushy = measure_all(
            workload, [(p, None) for p in plans], batch=BATCH, batches=batches, rounds=rounds
        )
        binary = [*left_deep, bushy]
        if any(tree.results != ours.results for tree in binary):
            raise AssertionError(f"trees and the multi-way join differ: {ours.results}, {[t.results for t in binary]}")
        case = f"four windows of {window:,} tuples, {values} values"
        for name, some in (("left-deep", left_deep), ("bushy", [bushy])):
            fastest, least = min(tree.seconds for tree in some), min(tree.stored for tree in some)
            micros = {"microseconds": round(ours.seconds * 1e6, 2), "tree_microseconds": round(fastest * 1e6, 2)}
            yield Result(f"{case}: {name} tree / multi-way, time", fastest / ours.seconds, NO_SLOWER, True, micros)
            stored = {"stored": ours.stored, "tree_stored": least, "results": ours.results}
            yield Result(f"{case}: multi-way / {name} tree, state", ours.stored / least, A_THIRD, detail=stored)


def _few(schema: Schema) -> Expression:
    """A condition over all inputs that one result in some thousands fulfils."""
    first, second, third, fourth = (column(schema, 2 * i + 1) for i in range(4))
    return call("<", call("+", call("+", first, second), call("+", third, fourth)), literal(200))


def _left_deep(multi: MultiJoin) -> list[Plan]:
    return [unflatten(multi, order) for order in ((0, 1, 2, 3), (1, 2, 3, 0), (3, 1, 0, 2))]


def _bushy(multi: MultiJoin) -> Plan:
    a, b, c, d = multi.inputs
    left, right = (Join(x, y, call("=", column(x.schema, 0), _second(x, y))) for x, y in ((a, b), (c, d)))
    top = multi.schema
    return Join(left, right, and_([call("=", column(top, 0), column(top, 4)), _few(top)]))


def _second(left: Plan, right: Plan) -> Expression:
    """The attribute of the second of two inputs, over the columns of both."""
    return column(left.schema + right.schema, len(left.schema))
