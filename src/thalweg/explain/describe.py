"""The contents of EXPLAIN for a plan, before they are laid out as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from thalweg.algebra.plan import Plan
from thalweg.kernel.pipeline.plan_properties import needs_dates
from thalweg.patterns import (
    Annotated,
    BufferChoice,
    BufferContents,
    Edge,
    Expiry,
    ExpiryOrder,
    Pattern,
    StateBound,
    annotate,
    bound,
    buffer_for,
    buffers,
)


@dataclass(frozen=True)
class Described:
    """An operator with its label, buffers and bound, and its inputs described likewise."""

    node: Plan
    edge: Edge
    buffers: tuple[BufferChoice, ...]
    bound: StateBound
    children: tuple[Described, ...]

    def walk(self) -> Iterator[Described]:
        """This operator and all below it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()


def describe(plan: Plan) -> Described:
    """Describe every operator of the plan."""
    return _describe(annotate(plan), needs_dates(plan))


def _describe(plan: Annotated, dated: bool) -> Described:
    chosen = buffers(plan.node, plan.inputs, dated)
    children = tuple(_describe(child, dated) for child in plan.children)
    return Described(plan.node, plan.edge, chosen, bound(plan, chosen), children)


def pattern_in_words(edge: Edge) -> str:
    """The pattern with its full name and meaning, or with a note where the papers' label is too optimistic."""
    pattern, meaning = edge.pattern, edge.pattern.meaning
    if pattern is Pattern.WKS and edge.expiry_order is not ExpiryOrder.FIFO:
        meaning = "by rule 2, though results leave out of order here"
    elif pattern is Pattern.WK and edge.expiry is Expiry.NEGATIVE:
        meaning = "by rule 4 below, though not every replacement comes through here"
    return f"{pattern.full_name} ({pattern.name}): {meaning}"


def answer_buffer(edge: Edge) -> BufferChoice | None:
    """The buffer that suits a view of the answer; None for an append-only stream, which needs no view."""
    return None if edge.pattern is Pattern.MON else buffer_for(edge, BufferContents.RESULT)


def output_in_words(edge: Edge) -> str:
    """The kind of answer that the query gives, and how a view of it is kept."""
    return _OUTPUTS[edge.expiry]


_OUTPUTS = {
    Expiry.NEVER: "an append-only stream; no result is ever taken back",
    Expiry.TIME: "a view kept by exp; every result says when it ends, no negative tuples are needed",
    Expiry.ORDER: "a view kept by order of expiration; every result says after which tuples it ends, not when",
    Expiry.REPLACEMENT: "a view kept by group; the next value of a group replaces the last one",
    Expiry.NEGATIVE: "a view that needs negative tuples to say which results end",
}
