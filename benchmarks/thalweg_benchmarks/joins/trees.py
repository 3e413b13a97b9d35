"""One join of four or six windows against trees of binary joins (GolabOzsu2003 §6).

In the first cases all windows have the same rate and size, and few results fulfil a condition over all inputs, so
intermediate results are large; these cases compare state, too. In the tables' workloads some trees keep intermediate
results small. Left-deep trees are those that plans are made of; bushy trees have the smallest intermediate results. All
trees run once, then the fastest take turns with the multi-way join.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from thalweg.algebra.expressions import Expression, and_, call, column, literal
from thalweg.algebra.plan import Join, MultiJoin, Plan, unflatten
from thalweg.core.schema import Schema
from thalweg_benchmarks.joins.orders import WORKLOADS as TABLES
from thalweg_benchmarks.joins.orders import some
from thalweg_benchmarks.joins.workload import JoinTiming, Workload, measure, measure_all
from thalweg_benchmarks.result import Result

NO_SLOWER = 1.0
A_THIRD = 1 / 3
FINALISTS = 3  # trees that take turns with the join
# Orders of the inputs of bushy trees: all three pairings of four windows, two orders of six.
GROUPED = {4: ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2)), 6: ((0, 1, 2, 3, 4, 5), (2, 4, 0, 5, 1, 3))}


@dataclass(frozen=True)
class TreeCase:
    """A workload in batches of `batch` ticks; `below` bounds the sum of a result's numbers, None: no such condition."""

    workload: Workload
    batch: int
    below: int | None = None

    def join(self) -> MultiJoin:
        """The plan with one multi-way join."""
        plain = self.workload.join()
        return plain if self.below is None else self.workload.join([_few(plain.schema, self.below)])

    def trees(self) -> list[Plan]:
        """Left-deep trees (a few suffice if all windows are alike) and bushy trees."""
        multi = self.join()
        inputs = len(multi.inputs)
        orders = some(inputs) if self.below is None else some(inputs)[:3]
        bushy = [([multi.inputs[i] for i in order], size) for order in GROUPED[inputs] for size in {2, inputs // 2}]
        return [unflatten(multi, o) for o in orders] + [_bushy(given, size, self.below) for given, size in bushy]


def _alike(windows: int, tuples: int, values: int, batch: int, below: int) -> tuple[str, TreeCase]:
    name = f"{windows} windows of {tuples:,} tuples, {values:,} values, batches of {batch:,}"
    return name, TreeCase(Workload(((1, tuples, values),) * windows), batch, below)


CASES: Mapping[str, TreeCase] = {
    **dict(
        (
            _alike(4, 500, 100, 400, 200),
            _alike(4, 1_000, 100, 400, 200),
            _alike(4, 2_500, 500, 400, 200),
            _alike(4, 5_000, 500, 1_000, 200),
            _alike(6, 300, 100, 400, 600),
            _alike(6, 1_000, 300, 1_000, 600),
        )
    ),
    **{name: TreeCase(workload, 400) for name, workload in TABLES.items()},
}


def trees(cases: Mapping[str, TreeCase] = CASES, batches: int = 3, rounds: int = 16) -> Iterator[Result]:
    """Time against the fastest tree, and state against the smallest state among the fastest trees."""
    for name, case in cases.items():
        every = case.trees()
        first = [measure(case.workload, tree, batch=case.batch, batches=batches) for tree in every]
        finalists = sorted(range(len(every)), key=lambda k: first[k].seconds)[:FINALISTS]
        plans = [case.join(), *(every[k] for k in finalists)]
        ours, *theirs = measure_all(
            case.workload, [(p, None) for p in plans], batch=case.batch, batches=batches, rounds=rounds
        )
        _check(ours, theirs)
        fastest, least = min(tree.seconds for tree in theirs), min(tree.stored for tree in theirs)
        detail: dict[str, object] = {
            "microseconds": round(ours.seconds * 1e6, 2),
            "tree_microseconds": round(fastest * 1e6, 2),
            "tried": len(every),
        }
        yield Result(f"{name}: fastest tree / multi-way, time", fastest / ours.seconds, NO_SLOWER, True, detail)
        stored = {"stored": ours.stored, "tree_stored": least, "results": ours.results}
        target = A_THIRD if case.below is not None else None
        yield Result(f"{name}: multi-way / tree, state", ours.stored / least, target, detail=stored)


def _check(ours: JoinTiming, theirs: Sequence[JoinTiming]) -> None:
    if any(tree.results != ours.results for tree in theirs):
        raise AssertionError(f"trees and the multi-way join differ: {ours.results}, {[t.results for t in theirs]}")


def _few(schema: Schema, below: int) -> Expression:
    """A condition over all inputs that one in some thousands of results fulfils."""
    numbers: list[Expression] = [column(schema, c) for c in range(1, len(schema), 2)]
    return call("<", reduce(lambda total, more: call("+", total, more), numbers), literal(below))


def _bushy(inputs: Sequence[Plan], size: int, below: int | None) -> Plan:
    """Join the inputs in groups of `size`, then join the groups."""
    *groups, last = (reduce(_joined, inputs[i : i + size]) for i in range(0, len(inputs), size))
    left = reduce(_joined, groups)
    top = _joined(left, last)
    return top if below is None else Join(left, last, and_([top.condition, _few(top.schema, below)]))


def _joined(left: Plan, right: Plan) -> Join:
    both = left.schema + right.schema
    return Join(left, right, call("=", column(both, 0), column(both, len(left.schema))))
