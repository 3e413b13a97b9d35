"""Shapes: what queries must have in common to share one set of bits, and a query taken apart along its shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from thalweg.algebra.codec import register
from thalweg.algebra.expressions import Column, Expression, and_, map_columns, shift
from thalweg.algebra.plan import Attribute, Named, join_graph
from thalweg.algebra.windows import Now, Range, Rows, Unbounded, Window
from thalweg.core.errors import PlanError
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER
from thalweg.flows.eddy.predicates import normal_form
from thalweg.flows.eddy.query import SpjQuery


@dataclass(frozen=True)
class Shape:
    """The streams that are joined, and by which attributes; or a single one, `counted` if its window counts rows."""

    streams: tuple[str, ...]
    attributes: tuple[Attribute, ...] = ()
    counted: bool = False

    @property
    def is_stored(self) -> bool:
        """Whether tuples are needed after they came."""
        return self.counted or len(self.streams) > 1


register("eddy-shape", Shape)


@dataclass(frozen=True)
class Extent:
    """How long a window holds a tuple: for so many ticks, or until so many more have come (0 if it does not count)."""

    width: int
    rows: int

    @staticmethod
    def of(window: Window) -> Extent:
        """The extent of a window that an eddy can share."""
        match window:
            case Range(width=width, slide=1):
                return Extent(width, 0)
            case Now():
                return Extent(1, 0)
            case Unbounded():
                return Extent(FOREVER, 0)
            case Rows(count=count, slide=1):
                return Extent(FOREVER, count)
        raise PlanError(
            f"an eddy shares windows that slide with every tick or row, not {window}",
            hint="run the query by itself",
        )


@dataclass(frozen=True)
class Apart:
    """A query along its shape: by use its extent and the clauses over that stream alone; all else over all columns."""

    shape: Shape
    extents: tuple[Extent, ...]
    clauses: tuple[tuple[Expression, ...], ...]
    demands: tuple[Expression, ...]
    items: tuple[Named, ...]


def take_apart(query: SpjQuery, schemas: Mapping[str, Schema]) -> Apart:
    """Uses in the order of their streams' names, so that queries which differ in that order alone share a shape."""
    order = sorted(range(len(query.uses)), key=lambda i: query.uses[i].stream)
    uses = [query.uses[i] for i in order]
    for use in uses:
        if use.stream not in schemas:
            raise PlanError(f"the eddy has no stream {use.stream}", candidates=sorted(schemas))
    moved = _moved(order, [len(schemas[use.stream]) for use in query.uses])
    offsets = (0, *accumulate(len(schemas[use.stream]) for use in uses))
    graph = join_graph(and_(normal_form(map_columns(query.predicate, moved))), offsets)
    clauses: list[list[Expression]] = [[] for _ in uses]
    demands = []
    for part in graph.rest:
        read = sorted(graph.inputs_of(part)) or [0]
        if len(read) == 1:
            clauses[read[0]].append(shift(part, -offsets[read[0]]))
        else:
            demands.append(part)
    extents = tuple(Extent.of(use.window) for use in uses)
    counted = len(uses) == 1 and extents[0].rows > 0
    return Apart(
        Shape(tuple(use.stream for use in uses), graph.attributes, counted),
        extents,
        tuple(map(tuple, clauses)),
        tuple(demands),
        tuple(Named(map_columns(item.expression, moved), item.name) for item in query.items),
    )


def _moved(order: Sequence[int], widths: Sequence[int]) -> Callable[[Column], Column]:
    """Where a column is once the uses stand in another order."""
    begin = dict(zip(order, accumulate((widths[i] for i in order), initial=0), strict=False))
    places = [begin[i] + c for i, width in enumerate(widths) for c in range(width)]
    return lambda column: Column(places[column.index], column.type, column.name)
