"""The multi-way join, evaluated with every batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from thalweg.algebra.expressions import Expression
from thalweg.algebra.plan import join_graph
from thalweg.core.batch import Batch
from thalweg.core.errors import SnapshotError
from thalweg.core.schema import Schema
from thalweg.core.stream_statistics import ChooseOrders, Orders, StreamStatistics
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.kernel.multi_join.coded import Coding
from thalweg.kernel.multi_join.monitor import Monitor
from thalweg.kernel.multi_join.partial import Partial, assemble
from thalweg.kernel.multi_join.reduce import reduced
from thalweg.kernel.multi_join.stored import SCANNED, Stored, Told
from thalweg.kernel.multi_join.view import Extras, View
from thalweg.kernel.multi_join.walk import Planned, walk
from thalweg.kernel.operator import Key, Operator
from thalweg.kernel.state.buffers import Buffer
from thalweg.kernel.state.coder import KeyCoder
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.snapshot import Tree


class MultiJoin(Operator, kind="multi-join/1"):
    """S1 |x| ... |x| Sn, alive while all parts are, with the product of their signs.

    What is new is, source by source, (new tuples of i) x (new states of the sources before i) x (old states of those
    after it), walked along the order of source i. So no result is told twice and none is missed, whatever the orders,
    which hold no state: they may change between any two batches.

    Update pattern: as a tree of joins. State: the tuples of each input until they end, once for each attribute by which
    they are looked up; no intermediate results. GolabOzsu2003 §3.
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
    ) -> None:
        """Inputs in `indexed` are looked up by the attributes they share with others; all others are scanned.

        Each input has a buffer for each attribute that is looked up, or one to be scanned. `choose` orders the inputs,
        anew whenever rates, sizes or distinct values have changed by the factor `drift`.
        """
        schema = Schema(tuple(field for part in schemas for field in part))
        offsets = [sum(map(len, schemas[:i])) for i in range(len(schemas) + 1)]
        graph = join_graph(condition, offsets)
        self._widths = tuple(map(len, schemas))
        self._graph = graph
        self._codings = [Coding(i, part, graph, pool) for i, part in enumerate(schemas)]
        self._coders = [KeyCoder(len(next(v for v in a.values if v is not None))) for a in graph.attributes]
        looked_up = [self._codings[i].attributes if i in indexed else () for i in range(len(schemas))]
        self._stored = [
            Stored(attributes or (SCANNED,), [coding.place(a) for a in attributes] or [SCANNED], made)
            for attributes, coding, made in zip(looked_up, self._codings, buffers, strict=True)
        ]
        self._planned = Planned(graph, schema, self._codings, pool)
        self._monitor = Monitor(len(schemas), len(graph.attributes), drift)
        self._choose = choose
        self._comparison_counts = [0] * len(schemas)
        self._nothing = Batch.empty(schema, dated)
        self._follow(choose([_unknown(a, len(graph.attributes)) for a in (c.attributes for c in self._codings)]))

    @property
    def keys(self) -> tuple[Key, ...]:
        """Partners have equal values of an attribute that all inputs share, if there is one."""
        every = next((a.values for a in self._graph.attributes if None not in a.values), None)
        return tuple(values or () for values in every) if every is not None else ((),) * len(self._widths)

    @property
    def stored(self) -> int:
        """The tuples of all inputs, each as often as it is stored."""
        return sum(map(len, self._stored))

    @property
    def comparisons(self) -> int:
        """How often a tuple was looked at as a partner so far (GolabOzsu2003 §4.2)."""
        return sum(self._comparison_counts)

    @property
    def comparisons_by_source(self) -> tuple[int, ...]:
        """The same for the new tuples of each input."""
        return tuple(self._comparison_counts)

    @property
    def walks(self) -> str:
        """For each source the inputs in their order, counted from 1 as in the paper."""
        return " | ".join(",".join(f"S{i + 1}" for i in order) for order in self._orders)

    @property
    def orders(self) -> Orders:
        """For each source the order in which the inputs are walked now."""
        return self._orders

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The results that something new is part of."""
        told = self._tell(self._coded(inputs))
        begun = _begun([*(t.kept for t in told), *(t.deleting for t in told)], now)
        left = [Extras(t.until_deleted(begun)) for t in told]
        found = [*self._added([t.kept for t in told], left), *self._deleted(told, left, begun)]
        self._keep([t.by_key for t in told], now)
        self._look([t.kept for t in told], now)
        return assemble(found, self._widths, self._nothing)

    def restore(self, tree: Tree) -> None:
        """Go on from a snapshot of a join that stored its inputs alike."""
        layouts = [stored.layout for stored in self._stored]
        super().restore(tree)
        if [stored.layout for stored in self._stored] != layouts:
            raise SnapshotError(
                "expected a snapshot of a multi-way join that stores its inputs for the same lookups, but it was taken "
                "of one with other indexes",
                hint="run the query with the setting `join` that it was started with",
            )
        self._follow(self._orders)

    # -- a batch

    def _coded(self, inputs: Sequence[Batch]) -> list[Batch]:
        return [coding.coded(batch, self._coders) for coding, batch in zip(self._codings, inputs, strict=True)]

    def _tell(self, coded: Sequence[Batch]) -> list[Told]:
        """What the batches tell; what they delete is no longer stored."""
        return [stored.tell(batch) for stored, batch in zip(self._stored, coded, strict=True)]

    def _added(self, kept: Sequence[Batch], left: Sequence[Extras]) -> Iterator[Partial]:
        """Results with something new; old tuples that were deleted meanwhile (`left`) are met until then."""
        self._scatter()
        if not any(len(old.tuples) for old in left):
            kept = reduced(kept, self._stored, self._codings, len(self._graph.attributes))
        news = [Extras(Batch.concat([old.tuples, new])) for old, new in zip(left, kept, strict=True)]
        for i, new in enumerate(kept):
            if len(new):
                yield from self._walk(i, new, [*news[:i], *left[i:]])

    def _deleted(self, told: Sequence[Told], left: Sequence[Extras], begun: Instant) -> Iterator[Partial]:
        """Old results that a deletion ends, as negative tuples."""
        if not any(len(t.deleting) for t in told):
            return
        self._scatter()
        whole = [Extras(t.deleted(begun)) for t in told]
        for i, t in enumerate(told):
            if len(t.deleting):
                yield from self._walk(i, t.deleting, [*left[:i], *whole[i:]])

    def _scatter(self) -> None:
        for stored in self._stored:
            stored.scatter()

    def _walk(self, source: int, new: Batch, extras: Sequence[Extras]) -> Iterator[Partial]:
        views = [View(stored, extra) for stored, extra in zip(self._stored, extras, strict=True)]
        views[source] = View(self._stored[source], Extras(new), stored_too=False)
        return walk(self._steps[source], views, self._comparison_counts, source)

    def _keep(self, kept: Sequence[Sequence[Keyed]], now: Instant) -> None:
        self._scatter()
        for stored, new in zip(self._stored, kept, strict=True):
            stored.keep(new, now)
            stored.expire(now)

    # -- orders

    def _look(self, kept: Sequence[Batch], now: Instant) -> None:
        """Choose the orders anew if what they were chosen by has changed too much."""
        counts = [int(np.count_nonzero(new.sign > 0)) for new in kept]
        self._monitor.arrived(counts, _begun(kept, now))
        if self._monitor.look(self._stored, self._codings, now):
            self._follow(self._choose(self._monitor.statistics or []))

    def _follow(self, orders: Orders) -> None:
        self._orders = orders
        self._steps = [self._planned.steps(order, self._monitor.statistics) for order in orders]


def _unknown(attributes: Sequence[int], all_: int) -> StreamStatistics:
    """Before anything has come all inputs are alike, but for the attributes they have."""
    return StreamStatistics(1.0, 1.0, tuple(1.0 if a in attributes else None for a in range(all_)))


def _begun(batches: Sequence[Batch], now: Instant) -> Instant:
    """When the first of some tuples begins."""
    return min(int(batch.start.min(initial=now)) for batch in batches)
