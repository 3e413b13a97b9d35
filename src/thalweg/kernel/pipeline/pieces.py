"""Which operators of a pipeline hand their output on in pieces, so that it never exists as a whole.

A join of a hot key has far more results than its inputs have tuples. Its results pass through selections and
projections one piece at a time, up to the operator that needs less than all of them:

    Join  ->  Select  ->  Project  ->  GroupBy          pieces all the way; only sums by group and instant remain
    Join  ->  Select  ->  Project  ->  TopK             pieces up to the projection; the rest of them is put together
    Join  ->  Project ->  the answer                    one batch: pieces would save nothing

Two operators that read the same output get it whole, because each piece exists only once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from thalweg.core.batch import Batch
from thalweg.kernel.operator import Operator


@dataclass(frozen=True)
class Passing:
    """`places` of nodes that hand their output on in pieces, and by node that puts pieces together a join below it."""

    places: frozenset[int]
    joins: dict[int, Operator]

    @staticmethod
    def of(operators: Sequence[Operator | None], inputs: Sequence[Sequence[int]], shown: Collection[int]) -> Passing:
        """Given by place the operators (None: a source) and their inputs, and the places whose output is asked for."""
        readers: dict[int, list[int]] = {place: [] for place in range(len(operators))}
        for place, below in enumerate(inputs):
            for i in below:
                readers[i].append(place)
        useful: set[int] = set()  # to hand pieces to these operators saves memory
        for place in reversed(range(len(operators))):
            operator, above = operators[place], readers[place]
            if operator is not None and operator.takes_pieces:
                goes_on = place not in shown and len(above) == 1 and above[0] in useful
                if operator.shrinks_pieces or goes_on:
                    useful.add(place)
        passing: set[int] = set()
        joins: dict[int, Operator] = {}
        for place, operator in enumerate(operators):
            join = next((joins[i] for i in inputs[place] if i in passing), None)
            if operator is None or (join is None and not operator.makes_pieces):
                continue
            joins[place] = operator if join is None else join
            if place not in shown and len(readers[place]) == 1 and readers[place][0] in useful:
                passing.add(place)
        taking = {place for place, below in enumerate(inputs) if passing.intersection(below)}
        return Passing(frozenset(passing), {place: join for place, join in joins.items() if place in passing | taking})


def whole(pieces: Iterable[Batch], join: Operator) -> Batch:
    """Pieces as one batch; an error if several pieces have more tuples together than the join may have results."""
    found: list[Batch] = []
    count = 0
    for piece in pieces:
        found.append(piece)
        count += len(piece)
        if len(found) > 1 and count > join.most_results:
            raise join.too_many_results()
    return Batch.concat(found)
