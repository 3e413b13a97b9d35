"""The condition of a join of many inputs as a graph: attributes that inputs share, and other conjuncts.

Equalities close transitively: S1.a = S2.a and S2.a = S3.a make one attribute of three inputs, so that any of them can
look for partners in any other. Attributes that the same inputs share are one attribute of several values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from thalweg.algebra.expressions import Call, Expression, call, columns_of, conjuncts, shift

Values = tuple[Expression, ...]


@dataclass(frozen=True)
class Attribute:
    """By input the expressions, over the input's own columns, that must be equal; None for inputs that lack it."""

    values: tuple[Values | None, ...]

    @property
    def inputs(self) -> frozenset[int]:
        """The inputs that share it."""
        return frozenset(i for i, values in enumerate(self.values) if values is not None)


@dataclass(frozen=True)
class JoinGraph:
    """The inputs as nodes, the attributes as edges; `rest` are the conjuncts, over all columns, that are no edges."""

    offsets: tuple[int, ...]
    attributes: tuple[Attribute, ...]
    rest: tuple[Expression, ...]

    def inputs_of(self, expression: Expression) -> frozenset[int]:
        """The inputs whose columns an expression reads."""
        return _inputs_of(expression, self.offsets)


def join_graph(condition: Expression, offsets: Sequence[int]) -> JoinGraph:
    """The graph of a condition over inputs whose columns begin at `offsets`; the last is the width of all."""
    inputs = len(offsets) - 1
    classes: list[list[Expression]] = []  # expressions over all columns that are equal to each other
    rest = []
    for part in conjuncts(condition):
        if _joins(part, offsets):
            _unite(classes, part)
        else:
            rest.append(part)
    shared: dict[frozenset[int], list[list[Values | None]]] = {}
    for same in classes:
        values, more = _by_input(same, offsets, inputs)
        rest += more
        members = frozenset(i for i, value in enumerate(values) if value is not None)
        shared.setdefault(members, []).append(values)
    attributes = [Attribute(tuple(map(_together, zip(*found, strict=True)))) for found in shared.values()]
    return JoinGraph(tuple(offsets), tuple(attributes), tuple(rest))


def _inputs_of(expression: Expression, offsets: Sequence[int]) -> frozenset[int]:
    read = columns_of(expression)
    return frozenset(i for i, (a, b) in enumerate(pairwise(offsets)) if any(a <= c < b for c in read))


def _joins(part: Expression, offsets: Sequence[int]) -> bool:
    """Whether a conjunct sets something of one input equal to something of another."""
    if not isinstance(part, Call) or part.function != "=":
        return False
    one, other = (_inputs_of(side, offsets) for side in part.args)
    return len(one) == len(other) == 1 and one != other


def _unite(classes: list[list[Expression]], part: Expression) -> None:
    assert isinstance(part, Call)
    met = [same for same in classes if any(side in same for side in part.args)]
    united = list(dict.fromkeys([*(e for same in met for e in same), *part.args]))
    classes[:] = [same for same in classes if same not in met] + [united]


def _by_input(
    same: Sequence[Expression], offsets: Sequence[int], inputs: int
) -> tuple[list[Values | None], list[Expression]]:
    """One value for each input; if an input has two, their equality becomes a condition of its own."""
    values: list[Values | None] = [None] * inputs
    first: dict[int, Expression] = {}
    more: list[Expression] = []
    for expression in same:
        (i,) = _inputs_of(expression, offsets)
        if i in first:
            more.append(call("=", first[i], expression))
        else:
            first[i] = expression
            values[i] = (shift(expression, -offsets[i]),)
    return values, more


def _together(parts: Sequence[Values | None]) -> Values | None:
    known = [part for part in parts if part is not None]
    return tuple(value for part in known for value in part) if known else None
