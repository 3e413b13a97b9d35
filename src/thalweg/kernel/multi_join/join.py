"""The multi-way join, evaluated in every batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from thalweg.algebra.expressions import Expression
from thalweg.algebra.plan import join_graph
from thalweg.core.batch import Batch
from thalweg.core.errors import SnapshotError, TooManyResultsError
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.stream_statistics import ChooseOrders, Orders, StreamStatistics
from thalweg.core.strings import StringPool
from thalweg.core.time import LONGEST, Instant
from thalweg.kernel.multi_join.coding import InputCoding
from thalweg.kernel.multi_join.monitor import Monitor
from thalweg.kernel.multi_join.partial import PartialResults, assemble
from thalweg.kernel.multi_join.reduce import reduced
from thalweg.kernel.multi_join.stored_input import SCANNED, InputChanges, StoredInput
from thalweg.kernel.multi_join.view import InputView, UnstoredTuples
from thalweg.kernel.multi_join.walk import WalkPlanner, walk
from thalweg.kernel.operator import Key, Operator
from thalweg.kernel.state.buffers import Buffer
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.state.snapshot import Tree
from thalweg.kernel.state.table import KeyTable
from thalweg.kernel.tuning import DEFAULT, Tuning


class MultiJoin(Operator, kind="multi-join/1"):
    """S1 |x| ... |x| Sn, alive while all parts are, with the product of their signs.

    The new results are the sum over all sources i of (new tuples of i) x (new states of the inputs before i) x (old
    states of the inputs after i), each joined in the order of source i. So every result is emitted once. Orders have no
    state, and may change between any two batches.

    Update pattern: that of a tree of joins. State: the tuples of each input until they end, once for each attribute by
    which they are looked up; no intermediate results. Cost: `comparisons`. Paper: GolabOzsu2003 §3.
    """

    KEPT: ClassVar[tuple[str, ...]] = ("_coders", "_stored", "_monitor", "_orders", "_comparison_counts")

    def __init__(
        self,
        schemas: Sequence[Schema],
        condition: Expression,
        pool: StringPool,
        dated: bool,
        *,
        buffers: Sequence[Sequence[Buffer]],
        indexed: frozenset[int],
        choose: ChooseOrders,
        drift: float,
        tuning: Tuning = DEFAULT,
        most_results: int = LONGEST,
    ) -> None:
        """Inputs in `indexed` are looked up by the attributes that they share with others; all others are scanned.

        Each input has a buffer for each attribute that is looked up, or one to be scanned. `choose` orders the inputs,
        and is called again when rates, sizes or distinct values have changed by the factor `drift`.
        """
        schema = Schema(tuple(field for part in schemas for field in part))
        offsets = [sum(map(len, schemas[:i])) for i in range(len(schemas) + 1)]
        graph = join_graph(condition, offsets)
        self._widths = tuple(map(len, schemas))
        self._graph = graph
        self._codings = [InputCoding(i, part, graph, pool) for i, part in enumerate(schemas)]
        self._coders = [KeyTable.of_width(len(next(v for v in a.values if v is not None))) for a in graph.attributes]
        looked_up = [self._codings[i].attributes if i in indexed else () for i in range(len(schemas))]
        self._stored = [
            StoredInput(
                attributes or (SCANNED,), [coding.code_column(a) for a in attributes] or [SCANNED], made, tuning
            )
            for attributes, coding, made in zip(looked_up, self._codings, buffers, strict=True)
        ]
        self._planner = WalkPlanner(graph, schema, self._codings, pool, tuning)
        self._monitor = Monitor(len(schemas), len(graph.attributes), drift, tuning)
        self._tuning = tuning
        self._condition, self._most_results = condition, most_results
        self._choose = choose
        self._comparison_counts = [0] * len(schemas)
        self._nothing = Batch.empty(schema, dated)
        self._set_orders(choose([_unknown(a, len(graph.attributes)) for a in (c.attributes for c in self._codings)]))

    @property
    def keys(self) -> tuple[Key, ...]:
        """An attribute that all inputs share, if there is one."""
        every = next((a.values for a in self._graph.attributes if None not in a.values), None)
        return tuple(values or () for values in every) if every is not None else ((),) * len(self._widths)

    @property
    def stored(self) -> int:
        """The stored tuples of all inputs; a tuple counts once for each attribute by which it is stored."""
        return sum(map(len, self._stored))

    @property
    def comparisons(self) -> int:
        """The number of candidate tuples that were compared so far (GolabOzsu2003 §4.2)."""
        return sum(self._comparison_counts)

    @property
    def join_orders(self) -> str:
        """For each source the inputs in the order of its walk, counted from 1 as in the paper."""
        return " | ".join(",".join(f"S{i + 1}" for i in order) for order in self._orders)

    @property
    def orders(self) -> Orders:
        """For each source the current order of its walk."""
        return self._orders

    @property
    def makes_pieces(self) -> bool:
        """A hot key can give more results than fit into memory."""
        return True

    @property
    def most_results(self) -> int:
        """How many results of a batch may exist at a time."""
        return self._most_results

    def too_many_results(self) -> TooManyResultsError:
        """The error names the join."""
        sizes = ", ".join(f"{sum(map(len, stored.runs)):,}" for stored in self._stored)
        return TooManyResultsError(
            f"the join of {len(self._widths)} inputs ON {self._condition} has more than {self._most_results:,} results "
            f"in one batch, which must exist at the same time here; its inputs held {sizes} tuples before",
            hint="smaller batches, narrower windows, or a further condition of the join make fewer; COUNT, SUM and AVG "
            f"over the join need no limit; tw.Settings(most_results={2 * self._most_results}) allows more",
        )

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The results with a new tuple."""
        return self._assembled(self._found(inputs, now))

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """The same, in pieces of about `results_at_once` results."""
        held: list[PartialResults] = []
        given = False
        for found in self._found([Batch.concat(list(pieces)) for pieces in inputs], now):
            held.append(found)
            if sum(map(len, held)) >= self._tuning.results_at_once:
                yield assemble(held, self._widths, self._nothing)
                held, given = [], True
        if held or not given:
            yield assemble(held, self._widths, self._nothing)

    def _assembled(self, found: Iterable[PartialResults]) -> Batch:
        """All results as one batch; an error if they are too many."""
        held: list[PartialResults] = []
        count = 0
        for results in found:
            held.append(results)
            count += len(results)
            if count > self._most_results:
                raise self.too_many_results()
        return assemble(held, self._widths, self._nothing)

    def _found(self, inputs: Sequence[Batch], now: Instant) -> Iterator[PartialResults]:
        """The results with a new tuple; when all have been taken, the new tuples are stored."""
        changes = self._delete(self._coded(inputs))
        begun = first_start([*(c.kept for c in changes), *(c.deleting for c in changes)], now)
        leaving = [UnstoredTuples(c.until_deleted(begun)) for c in changes]
        yield from self._added([c.kept for c in changes], leaving)
        yield from self._deleted(changes, leaving, begun)
        self._keep([c.by_key for c in changes], now)
        self._reorder([c.kept for c in changes], now)
        self._forget()

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot of a join that has the same indexes."""
        layouts = [stored.layout for stored in self._stored]
        super().restore(tree)
        if [stored.layout for stored in self._stored] != layouts:
            raise SnapshotError(
                "expected a snapshot of a multi-way join with the same indexes, but it was taken of one with other "
                "indexes",
                hint="run the query with the setting `join` that it was started with",
            )
        self._set_orders(self._orders)

    def _coded(self, inputs: Sequence[Batch]) -> list[Batch]:
        return [coding.coded(batch, self._coders) for coding, batch in zip(self._codings, inputs, strict=True)]

    def _delete(self, coded: Sequence[Batch]) -> list[InputChanges]:
        """Delete stored tuples as the batches say, and return the changes of all inputs."""
        return [stored.delete(batch) for stored, batch in zip(self._stored, coded, strict=True)]

    def _added(self, kept: Sequence[Batch], leaving: Sequence[UnstoredTuples]) -> Iterator[PartialResults]:
        """Results with a new tuple; `leaving` are old tuples that are deleted, cut at their deletion."""
        self._drop_merged()
        if not any(len(old.tuples) for old in leaving):
            kept = reduced(kept, self._stored, self._codings, len(self._graph.attributes))
        news = [UnstoredTuples(Batch.concat([old.tuples, new])) for old, new in zip(leaving, kept, strict=True)]
        for i, new in enumerate(kept):
            if len(new):
                yield from self._walk(i, new, [*news[:i], *leaving[i:]])

    def _deleted(
        self, changes: Sequence[InputChanges], leaving: Sequence[UnstoredTuples], begun: Instant
    ) -> Iterator[PartialResults]:
        """Negative tuples for old results that a deletion ends."""
        if not any(len(c.deleting) for c in changes):
            return
        self._drop_merged()
        whole = [UnstoredTuples(c.deleted(begun)) for c in changes]
        for i, c in enumerate(changes):
            if len(c.deleting):
                yield from self._walk(i, c.deleting, [*leaving[:i], *whole[i:]])

    def _drop_merged(self) -> None:
        for stored in self._stored:
            stored.drop_merged()

    def _walk(self, source: int, new: Batch, unstored: Sequence[UnstoredTuples]) -> Iterator[PartialResults]:
        pairs = zip(self._stored, unstored, strict=True)
        views = [InputView(stored, extra, tuning=self._tuning) for stored, extra in pairs]
        views[source] = InputView(self._stored[source], UnstoredTuples(new), True, self._tuning)
        return walk(self._steps[source], views, self._comparison_counts, source)

    def _keep(self, kept: Sequence[Sequence[Keyed]], now: Instant) -> None:
        self._drop_merged()
        for stored, new in zip(self._stored, kept, strict=True):
            stored.keep(new, now)
            stored.expire(now)

    def _forget(self) -> None:
        """Now and then forget the values that no stored tuple has."""
        for attribute, coder in enumerate(self._coders):
            coder.forget(partial(self._named_codes, attribute))

    def _named_codes(self, attribute: int) -> Iterator[Ints]:
        """The codes of an attribute in all stored tuples."""
        for coding, tuples in self._coded_tuples():
            if attribute in coding.attributes:
                yield tuples.columns[coding.code_column(attribute)]

    def _coded_tuples(self) -> Iterator[tuple[InputCoding, Batch | TupleRun]]:
        """All tuples of the state, with the coding of their input."""
        for coding, stored in zip(self._codings, self._stored, strict=True):
            yield from ((coding, run) for run in stored.all_runs)

    def _reorder(self, kept: Sequence[Batch], now: Instant) -> None:
        """Choose the orders again if the statistics have drifted."""
        counts = [int(np.count_nonzero(new.sign > 0)) for new in kept]
        self._monitor.count_arrivals(counts, first_start(kept, now))
        if self._monitor.measure(self._stored, self._codings, now):
            self._set_orders(self._choose(self._monitor.statistics or []))

    def _set_orders(self, orders: Orders) -> None:
        self._orders = orders
        self._steps = [self._planner.steps(order, self._monitor.statistics) for order in orders]


def _unknown(attributes: Sequence[int], all_: int) -> StreamStatistics:
    """The statistics before the first arrival: inputs differ only in their attributes."""
    return StreamStatistics(1.0, 1.0, tuple(1.0 if a in attributes else None for a in range(all_)))


def first_start(batches: Sequence[Batch], now: Instant) -> Instant:
    """The first start of some tuples; `now` if there are none."""
    return min(int(batch.start.min(initial=now)) for batch in batches)
