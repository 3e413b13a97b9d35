"""An input as a walk sees it: what is stored, and what a batch adds to that."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.kernel.multi_join.candidates import Candidates, Slices, candidates
from thalweg.kernel.multi_join.stored import Stored
from thalweg.kernel.state.code_index import CodeIndex
from thalweg.kernel.state.run import Run
from thalweg.kernel.state.time_index import TimeIndex


class Extras:
    """Tuples that are not stored, with an index for each attribute that somebody asks for."""

    def __init__(self, tuples: Batch) -> None:
        self.tuples = tuples
        self._indexes: dict[int, tuple[CodeIndex | TimeIndex, Batch]] = {}

    def probe(self, place: int, codes: Ints, since: Ints, until: Ints) -> list[Slices]:
        """The tuples with the codes in column `place` that are alive in an interval each."""
        if not len(self.tuples):
            return []
        if place not in self._indexes:
            self._indexes[place] = self._index(place)
        index, ordered = self._indexes[place]
        found = index.find(codes) if isinstance(index, CodeIndex) else index.find(codes, since, until)
        return [(ordered, *found)]

    def _index(self, place: int) -> tuple[CodeIndex | TimeIndex, Batch]:
        """By time only if time tells the tuples apart."""
        codes, start, end = self.tuples.columns[place], self.tuples.start, self.tuples.end
        if end.min() > start.max():
            order = codes.argsort(kind="stable")
            return CodeIndex(codes.take(order)), self.tuples.take(order)
        index = TimeIndex(codes, start, end)
        return index, self.tuples.take(index.order)


class View:
    """What is stored, or (of the source of new tuples) nothing of it, and extras."""

    def __init__(self, stored: Stored, extras: Extras, stored_too: bool = True) -> None:
        self._stored, self._extras, self._stored_too = stored, extras, stored_too

    def is_indexed_by(self, attribute: int) -> bool:
        """Whether an attribute can be looked up; else all is scanned."""
        return self._stored.is_indexed_by(attribute)

    def everything(self) -> Iterator[Batch | Run]:
        """All tuples."""
        if self._stored_too:
            yield from self._stored.runs
        if len(self._extras.tuples):
            yield self._extras.tuples

    def probe(self, attribute: int, place: int, codes: Ints, since: Ints, until: Ints) -> Iterator[Candidates]:
        """The tuples that have the codes in an attribute; some may have ended."""
        old = self._stored.probe(attribute, codes, since) if self._stored_too else []
        return candidates([*old, *self._extras.probe(place, codes, since, until)], len(codes))
