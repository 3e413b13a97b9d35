"""Shapes: what queries must have in common to share bits, and the parts of a query by its shape."""

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
    """The joined streams and their join attributes; or a single stream, `counted` if its window counts rows."""

    streams: tuple[str, ...]
    attributes: tuple[Attribute, ...] = ()
    counted: bool = False

    @property
    def is_stored(self) -> bool:
        """Whether tuples must be stored."""
        return self.counted or len(self.streams) > 1


register("eddy-shape", Shape)


@dataclass(frozen=True)
class WindowExtent:
    """How long a window holds a tuple: for this many ticks, or until this many more have arrived (0: no count)."""

    width: int
    rows: int

    @staticmethod
    def of(window: Window) -> WindowExtent:
        """The extent of a window that an eddy can share."""
        match window:
            case Range(width=width, slide=1):
                return WindowExtent(width, 0)
            case Now():
                return WindowExtent(1, 0)
            case Unbounded():
                return WindowExtent(FOREVER, 0)
            case Rows(count=count, slide=1):
                return WindowExtent(FOREVER, count)
        raise PlanError(
            f"an eddy shares windows that slide with every tick or row, not {window}",
            hint="run the query by itself",
        )


@dataclass(frozen=True)
class Apart:
    """A query by its shape: extent and own clauses of each use; the rest over all columns."""

    shape: Shape
    extents: tuple[WindowExtent, ...]
    clauses: tuple[tuple[Expression, ...], ...]
    demands: tuple[Expression, ...]
    items: tuple[Named, ...]


def take_apart(query: SpjQuery, schemas: Mapping[str, Schema]) -> Apart:
    """Sort uses by the names of their streams, so that queries that differ only in that order share a shape."""
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
    extents = tuple(WindowExtent.of(use.window) for use in uses)
    counted = len(uses) == 1 and extents[0].rows > 0
    return Apart(
        Shape(tuple(use.stream for use in uses), graph.attributes, counted),
        extents,
        tuple(map(tuple, clauses)),
        tuple(demands),
        tuple(Named(map_columns(item.expression, moved), item.name) for item in query.items),
    )


def _moved(order: Sequence[int], widths: Sequence[int]) -> Callable[[Column], Column]:
    """The new position of a column when uses are re-ordered."""
    begin = dict(zip(order, accumulate((widths[i] for i in order), initial=0), strict=False))
    places = [begin[i] + c for i, width in enumerate(widths) for c in range(width)]
    return lambda column: Column(places[column.index], column.type, column.name)
