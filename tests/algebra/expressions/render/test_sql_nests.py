"""Functions nested deep into each other give SQL that grows by as much at each level, and that DuckDB still answers.

Would catch: a writer that repeats its argument's text, so that twenty levels make a million copies, and a lambda
variable that hides another.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from algebra.expressions.evaluators import check
from strategies.expressions import EDGES, signatures
from thalweg.algebra.expressions import Expression, call, cast, column
from thalweg.algebra.expressions.build import CASTS
from thalweg.algebra.expressions.render import Dialect, render
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType

_LEVELS = 20
NESTABLE = [
    pytest.param(f, types, i, id=f"{f}({','.join(map(str, types))})@{i}")
    for f, types, result in signatures()
    for i, t in enumerate(types)
    if t is result and t is not DataType.NULL
]
THERE_AND_BACK = [pytest.param(a, b, id=f"{a}-{b}") for a, b in sorted(CASTS, key=str) if (b, a) in CASTS]


def _grows_evenly(levels: list[Expression]) -> None:
    for dialect in Dialect:
        sizes = [len(render(e, dialect, lambda i: f"c{i}")) for e in levels]
        steps = [after - before for before, after in pairwise(sizes)]
        assert max(steps[10:]) == min(steps[10:])  # the first levels may be short enough to be repeated


@pytest.mark.parametrize(("function", "types", "position"), NESTABLE)
def test_function(function: str, types: tuple[DataType, ...], position: int) -> None:
    schema = Schema(tuple(Field(f"c{i}", t) for i, t in enumerate(types)))
    columns: list[Expression] = [column(schema, i) for i in range(len(types))]
    levels = [columns[position]]
    for _ in range(_LEVELS):
        levels.append(call(function, *columns[:position], levels[-1], *columns[position + 1 :]))
    _grows_evenly(levels)
    rows = [tuple(EDGES[t][(3 * n + i) % len(EDGES[t])] for i, t in enumerate(types)) for n in range(12)]
    check([levels[-1]], schema, rows)


@pytest.mark.parametrize(("first", "second"), THERE_AND_BACK)
def test_cast(first: DataType, second: DataType) -> None:
    schema = Schema((Field("c0", first),))
    levels: list[Expression] = [column(schema, 0)]
    for _ in range(_LEVELS):
        levels.append(cast(cast(levels[-1], second), first))
    _grows_evenly(levels)
    check([levels[-1]], schema, [(value,) for value in EDGES[first]])
