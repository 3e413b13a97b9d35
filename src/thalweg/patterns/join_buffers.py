"""The state buffers of joins, and of the duplicate elimination that some joins contain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thalweg.algebra.expressions import conjuncts
from thalweg.algebra.plan import Join, JoinKind, MultiJoin, Plan, SemiJoin, join_graph
from thalweg.patterns.buffer_kinds import (
    BufferChoice,
    BufferContents,
    BufferKind,
    distinct_side_buffer,
    side_buffer,
)
from thalweg.patterns.expiration import is_direct, knows_ends, prefers_orders
from thalweg.patterns.pattern import Edge

Choices = tuple[BufferChoice, ...]

EXPIRED_LEAVE_GROUP = "known ends wait in order of time; what leaves is taken out of its group"


@dataclass(frozen=True)
class InputTraits:
    """The properties of an input that decide which operator is used."""

    direct: bool  # no negative tuples
    ends: bool  # some dates of expiry are known on arrival
    dated: bool  # the plan keeps dates

    @staticmethod
    def of(plan: Plan, dated: bool) -> InputTraits:
        """The properties of a plan's output."""
        return InputTraits(is_direct(plan, dated), knows_ends(plan, dated), dated)

    @property
    def by_delta_star(self) -> bool:
        """Whether delta* eliminates the duplicates of this input."""
        return self.direct and not self.dated


def join_buffers(node: Join, edges: Sequence[Edge], sides: Sequence[InputTraits]) -> Choices:
    """Both sides; an outer join also stores what it needs to find rows without a partner."""
    found = [side_buffer(edges[0], BufferContents.LEFT), side_buffer(edges[1], BufferContents.RIGHT)]
    if prefers_orders(node):
        why = "the order of either tuple leads to its results; other candidates are not looked at again"
        found.append(BufferChoice(BufferKind.CATALOGUES, BufferContents.RESULT, why))
        ends = "tuples that end by themselves give up their places"
        named = zip(sides, (BufferContents.LEFT, BufferContents.RIGHT), strict=True)
        found += [BufferChoice(BufferKind.TIMELINE, holds, ends) for side, holds in named if side.ends]
    if node.kind in (JoinKind.LEFT, JoinKind.FULL):
        found += partner_buffers(node, edges, sides)
    if node.kind in (JoinKind.RIGHT, JoinKind.FULL):
        found += partner_buffers(node, edges[::-1], sides[::-1], (BufferContents.RIGHT, BufferContents.LEFT))
    return tuple(found)


def multi_join_buffers(node: MultiJoin, edges: Sequence[Edge]) -> Choices:
    """A buffer per input and attribute by which it is probed, or one to scan; no intermediate results."""
    attributes = join_graph(node.condition, node.offsets).attributes
    times = [max(1, sum(i in attribute.inputs for attribute in attributes)) for i in range(len(edges))]
    return tuple(side_buffer(edge, BufferContents.EACH) for edge, n in zip(edges, times, strict=True) for _ in range(n))


def partner_buffers(
    node: Join | SemiJoin,
    edges: Sequence[Edge],
    sides: Sequence[InputTraits],
    holds: tuple[BufferContents, BufferContents] = (BufferContents.LEFT, BufferContents.RIGHT),
) -> Choices:
    """The state that says which rows of the first side have a partner.

    If the condition is equalities alone, the distinct keys of the other side; else the distinct rows with a partner.
    """
    left, right = sides
    probing = side_buffer(edges[0], holds[0])
    by_key = len(node.equalities) == len(conjuncts(node.condition)) > 0
    if by_key:
        return (probing, *_distinct_side(right, holds[1]))
    ends = (left.by_delta_star and left.ends) or right.ends
    matched = replace(right, direct=left.by_delta_star and right.direct, ends=ends)
    return (
        probing,
        *_distinct_side(left, holds[0]),
        side_buffer(edges[1], holds[1]),
        *_distinct_side(matched, holds[1]),
    )


def _distinct_side(input_: InputTraits, holds: BufferContents) -> Choices:
    """The buffers of a duplicate elimination below a join's side, and of that side; `holds` is its input."""
    contents = {BufferContents.RESULT: BufferContents.PARTNERS, BufferContents.INPUT: holds}
    before = [BufferChoice(c.kind, contents.get(c.holds, c.holds), c.why) for c in distinct_buffers(input_)]
    return (*before, distinct_side_buffer(input_.by_delta_star))


def distinct_buffers(input_: InputTraits) -> Choices:
    """delta* if it is known which of two equal tuples expires last; else duplicates are counted."""
    if input_.by_delta_star:
        if not input_.ends:
            return (BufferChoice(BufferKind.DELTA, BufferContents.RESULT, "nothing leaves: the shown tuple suffices"),)
        why = "no early deletions: the shown tuple and the last to expire of each value suffice"
        return (BufferChoice(BufferKind.DELTA, BufferContents.DUPLICATES, why),)
    found = [BufferChoice(BufferKind.ARRAY, BufferContents.RESULT, "duplicates are counted by value")]
    if input_.dated:
        found.append(BufferChoice(BufferKind.HASH, BufferContents.INPUT, "the dates of all duplicates, by value"))
    if input_.ends:
        found.append(BufferChoice(BufferKind.TIMELINE, BufferContents.INPUT, EXPIRED_LEAVE_GROUP))
    return tuple(found)
