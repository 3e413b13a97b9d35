"""SteMs: the tuples of a stream by a join attribute, shared by all joins of all queries (MaddenEtAl2002 §3.3.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np

from thalweg.algebra.codec import digest
from thalweg.algebra.expressions import Expression, map_columns
from thalweg.algebra.expressions import column as column_of
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane, is_null
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.state.buffers import FifoBuffer
from thalweg.kernel.state.keyed import Keyed, codes_of
from thalweg.kernel.state.snapshot import Stateful, Tree
from thalweg.kernel.state.table import KeyTable
from thalweg.kernel.sweep.evaluate import Evaluator
from thalweg.kernel.sweep.join_keys import NO_PARTNER
from thalweg.kernel.sweep.pairs import pairs

_LOW = (1 << 32) - 1
_SORT_IN_AFTER_BATCHES = 256


class Coders(Stateful, kind="stem-codes/1"):
    """Codes of keys by the types of their values: equal keys of any streams have equal codes."""

    KEPT = ("_coders",)

    def __init__(self) -> None:
        self._coders: dict[str, KeyTable] = {}

    def encode(self, types: str, lanes: Sequence[Lane], rows: int) -> Ints:
        """The codes of keys; NO_PARTNER where a value is NULL."""
        coder = self._coders.setdefault(types, KeyTable.of_width(len(lanes)))
        codes = coder.encode(lanes, rows)
        for lane in lanes:
            missing = is_null(lane)
            if missing.any():
                codes = np.where(missing, NO_PARTNER, codes)
        return codes

    def forget(self, stems: Mapping[str, Stem], stored: Callable[[Stem], Ints]) -> None:
        """Now and then forget keys that no tuple in these SteMs has; `stored` gives the codes of stored tuples."""
        for types in list(self._coders):
            mine = [stem for stem in stems.values() if stem.types == types]
            if not mine:
                del self._coders[types]
                continue
            self._coders[types].forget(partial(_named, mine, stored))

    def restore(self, tree: Tree) -> None:
        """Go on from a snapshot."""
        self._coders = {types: KeyTable.of_width(len(coder["keys"])) for types, coder in tree["_coders"].items()}
        for types, coder in self._coders.items():
            coder.restore(tree["_coders"][types])


def _named(stems: Sequence[Stem], stored: Callable[[Stem], Ints]) -> Iterator[Ints]:
    for stem in stems:
        yield stored(stem)
        yield from stem.named()


class Stem(Stateful, kind="stem/1"):
    """Positions of stored tuples by the code of a key, in the kernel's FIFO list.

    The list's clock counts positions: a tuple ends when it is no longer stored, and the oldest ends first.
    """

    KEPT = ("_buffer", "_waiting")

    def __init__(self, stream: str, schema: Schema, values: Sequence[Expression], pool: StringPool) -> None:
        self.stream = stream
        shown = [str(map_columns(value, lambda c: column_of(schema, c.index))) for value in values]
        self.name = f"{stream} by {', '.join(shown)}"
        self.key = stem_key(stream, values)
        self._evaluate = Evaluator(values, schema, pool)
        self.types = ",".join(str(value.type) for value in values)
        self._buffer = FifoBuffer()
        self._waiting: list[tuple[Ints, Ints]] = []  # codes and positions of tuples that no probe has needed yet

    def codes(self, columns: Sequence[Lane], rows: int, coders: Coders) -> Ints:
        """The codes of tuples' keys."""
        return coders.encode(self.types, self._evaluate(columns, rows), rows)

    def named(self) -> Iterator[Ints]:
        """The codes of its tuples."""
        yield from (codes for codes, _ in self._waiting)
        yield from (codes_of(run.keys) for run in self._buffer.runs)

    def build(self, codes: Ints, positions: Ints, first: int) -> None:
        """Add tuples; they are sorted in at the next probe, if they are still stored then."""
        self._waiting.append((codes, positions))
        if len(self._waiting) > _SORT_IN_AFTER_BATCHES:
            self.settle(first)

    def probe(self, codes: Ints, first: int) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of a row of `codes` and the position of a tuple with that code, from position `first` on."""
        self.settle(first)
        rows = None if codes.min(initial=0) > NO_PARTNER else np.flatnonzero(codes != NO_PARTNER)
        for run, begin, count in self._buffer.probe(codes if rows is None else codes[rows]):
            for i, j in pairs(begin, count):
                found, positions = i if rows is None else rows.take(i), run.columns[0].take(j)
                kept = None if run.first_end > first else positions >= first
                yield (found, positions) if kept is None else (found[kept], positions[kept])

    def forget(self, first: int) -> None:
        """Tuples before `first` are no longer stored."""
        while self._waiting and self._waiting[0][1][-1] < first:
            del self._waiting[0]

    def settle(self, first: int) -> None:
        """Sort in the waiting tuples, and drop those before `first`."""
        self.forget(first)
        if not self._waiting:
            return
        codes, positions = (np.concatenate(lanes) for lanes in zip(*self._waiting, strict=True))
        self._waiting = []
        known = np.flatnonzero((codes != NO_PARTNER) & (positions >= first))
        where = positions[known]
        signs = np.ones(len(where), dtype=np.int8)
        tuples = Batch((where,), where, where + 1, signs)
        self._buffer.keep(Keyed.with_tiebreak(codes[known], where & _LOW, tuples), first)
        self._buffer.expire(first)


@lru_cache(maxsize=1024)  # called with every batch
def stem_key(stream: str, values: tuple[Expression, ...]) -> str:
    """The name of a SteM: its stream and key, independent of column names."""
    return f"{stream}:{digest(values)[:24]}"
