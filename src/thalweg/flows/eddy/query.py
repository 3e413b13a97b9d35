"""Select-project-join queries over windows of streams, which an eddy runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.algebra.codec import register
from thalweg.algebra.expressions import Expression, and_, column, conjuncts, map_columns, shift
from thalweg.algebra.plan import Join, JoinKind, MultiJoin, Named, Plan, Project, Select, StreamScan, Windowed
from thalweg.algebra.windows import Now, Range, Rows, Unbounded, Window


@dataclass(frozen=True)
class Use:
    """A stream through a window. A query may use one stream several times."""

    stream: str
    window: Window


@dataclass(frozen=True)
class SpjQuery:
    """SELECT items FROM uses WHERE predicate, over the concatenated columns of all uses."""

    uses: tuple[Use, ...]
    predicate: Expression
    items: tuple[Named, ...]


register("stream-use", Use)
register("select-project-join", SpjQuery)


def spj(plan: Plan) -> SpjQuery | None:
    """A plan as a select-project-join query; None if it is none, or has windows that an eddy cannot share."""
    found = _read(plan)
    if found is None:
        return None
    names = plan.schema.names
    items = tuple(Named(e, name) for e, name in zip(found.items, names, strict=True))
    return SpjQuery(tuple(found.uses), and_(found.parts), items)


@dataclass(frozen=True)
class _Read:
    """A part of a plan: its uses, and its conjuncts and columns over the columns of the uses."""

    uses: Sequence[Use]
    parts: Sequence[Expression]
    items: Sequence[Expression]
    width: int

    def inside(self, expression: Expression) -> Expression:
        """Rewrite an expression over the part's columns to the columns of its uses."""
        return map_columns(expression, lambda c: self.items[c.index])

    def beside(self, other: _Read) -> _Read:
        """Both parts side by side."""
        moved = [[shift(e, self.width) for e in some] for some in (other.parts, other.items)]
        uses, width = [*self.uses, *other.uses], self.width + other.width
        return _Read(uses, [*self.parts, *moved[0]], [*self.items, *moved[1]], width)

    def where(self, predicate: Expression) -> _Read:
        """Add a predicate over the part's columns."""
        more = conjuncts(self.inside(predicate))
        return _Read(self.uses, [*self.parts, *more], self.items, self.width)


def _read(plan: Plan) -> _Read | None:
    match plan:
        case StreamScan(source):
            columns = [column(source.schema, i) for i in range(len(source.schema))]
            return _Read([Use(source.name, Unbounded())], [], columns, len(columns))
        case Windowed(child, window):
            return _windowed(_read(child), window)
        case Select(child, predicate):
            below = _read(child)
            return None if below is None else below.where(predicate)
        case Project(child, items):
            below = _read(child)
            if below is None:
                return None
            return _Read(below.uses, below.parts, [below.inside(i.expression) for i in items], below.width)
        case Join(left, right, condition, JoinKind.INNER):
            return _joined([left, right], condition)
        case MultiJoin(inputs=inputs, condition=condition):
            return _joined(inputs, condition)
    return None


def _joined(inputs: Sequence[Plan], condition: Expression) -> _Read | None:
    together = _read(inputs[0])
    for plan in inputs[1:]:
        other = _read(plan)
        if together is None or other is None:
            return None
        together = together.beside(other)
    return None if together is None else together.where(condition)


def _windowed(below: _Read | None, window: Window) -> _Read | None:
    """Add a window to a part that is one stream without a window; ROWS counts rows after the selection."""
    if below is None or len(below.uses) > 1 or not isinstance(below.uses[0].window, Unbounded):
        return None
    match window:
        case Range(slide=1) | Now() | Unbounded():
            pass
        case Rows(slide=1) if not below.parts:
            pass
        case _:
            return None
    return _Read([Use(below.uses[0].stream, window)], below.parts, below.items, below.width)
