"""Which query has which bit. Bits belong to a stream, not to the whole eddy (MaddenEtAl2002 §3.2.3).

Queries of one shape lie side by side: a *segment* is the part of a stream's words that they have for one of their uses,
and a query has the same bit in all segments of its shape. So the lineage of a pair is the AND of two segments.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from thalweg.core.lanes import Ints
from thalweg.flows.eddy.bits import WORD, Words, bitmap, hits


class Segment:
    """Some neighbouring words of a stream's lineage, for one use of the queries of a shape."""

    def __init__(self, name: str, words: int) -> None:
        self.name, self.words, self.offset = name, words, 0

    @property
    def place(self) -> slice:
        """The columns of its words."""
        return slice(self.offset, self.offset + self.words)


Member = tuple[Segment, int]  # one use of a query: its segment and its bit therein


class Space:
    """The segments of a stream. A new version says that bits have moved or changed their meaning."""

    def __init__(self) -> None:
        self.width = 0
        self.version = 0
        self._segments: list[Segment] = []

    def open(self, segment: Segment) -> None:
        """Make room for a segment."""
        end = max((s.offset + s.words for s in self._segments), default=0)
        self._segments.append(segment)
        segment.offset = end
        if end + segment.words > self.width:
            self.lay_out()

    def close(self, segment: Segment) -> None:
        """Remove a segment without members."""
        self._segments.remove(segment)
        self.lay_out()

    def lay_out(self) -> None:
        """Place the segments side by side; everything derived from bits must be rebuilt."""
        end = 0
        for segment in self._segments:
            segment.offset = end
            end += segment.words
        self.width = end if len(self._segments) == 1 else end + end // 4
        self.version += 1


class MemberSet:
    """A set of members of a space, as a bitmap."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._members: dict[Member, None] = {}
        self._row: Words = np.empty(0, dtype=np.uint64)
        self._version = -1

    def __len__(self) -> int:
        return len(self._members)

    def add(self, member: Member) -> None:
        """Add a member."""
        self._members[member] = None
        self._set(member, True)

    def discard(self, member: Member) -> None:
        """Remove a member, if it is one."""
        if member in self._members:
            del self._members[member]
            self._set(member, False)

    def row(self) -> Words:
        """The bitmap; read-only."""
        if self._version != self._space.version:
            self._row = bitmap(numbers(self._members), self._space.width)
            self._version = self._space.version
        return self._row

    def numbers(self) -> Ints:
        """The bit numbers of all members, ascending."""
        return hits(self.row()[None])[1]

    def _set(self, member: Member, on: bool) -> None:
        if self._version != self._space.version:
            return
        number = member[0].offset * WORD + member[1]
        bit = np.uint64(1 << number % WORD)
        word = self._row[number // WORD]
        self._row[number // WORD] = word | bit if on else word & ~bit


def numbers(members: Iterable[Member]) -> Ints:
    """The bit numbers of members in their stream's lineage."""
    return np.array([segment.offset * WORD + bit for segment, bit in members], dtype=np.int64)
