"""Links: which SteMs lead from one use of a shape to another."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.algebra.expressions import Expression
from thalweg.flows.eddy.shape import Shape
from thalweg.flows.eddy.stem import stem_key


@dataclass(frozen=True)
class Link:
    """Tuples of `use` are looked up in its SteM by the codes that tuples of `other` have in theirs."""

    use: int
    stem: str
    other: int
    other_stem: str


def stems_of(shape: Shape) -> list[tuple[str, str, tuple[Expression, ...]]]:
    """Key, stream and values of each SteM that a shape needs."""
    found = [
        (stem_key(stream, values), stream, values)
        for attribute in shape.attributes
        for stream, values in zip(shape.streams, attribute.values, strict=True)
        if values is not None
    ]
    return list(dict.fromkeys(found))


def links_to(shape: Shape, use: int, met: frozenset[int]) -> list[Link]:
    """A link for each attribute that a use shares with a use that is joined already."""
    links = []
    for attribute in shape.attributes:
        mine = attribute.values[use]
        for other in range(len(shape.streams)):
            theirs = attribute.values[other]
            if mine is not None and theirs is not None and other in met:
                stem, other_stem = stem_key(shape.streams[use], mine), stem_key(shape.streams[other], theirs)
                links.append(Link(use, stem, other, other_stem))
                break
    return links
