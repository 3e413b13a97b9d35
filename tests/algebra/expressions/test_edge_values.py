"""Every function, overload and cast over the product of edge values, by batch, by row and in DuckDB.

Would catch: an overflow that wraps or raises, a NaN or a sign of zero that shows, a rounding that goes the other way, a
constant argument that takes another path than a column, a character counted in bytes.
"""

from __future__ import annotations

from itertools import product

import pytest

from algebra.expressions.evaluators import check
from strategies.expressions import EDGES, signatures
from thalweg.algebra.expressions import Expression, Literal, call, cast, column
from thalweg.algebra.expressions.build import CASTS
from thalweg.core.rows import Row
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType

_MOST_ROWS = 600


def _schema(types: tuple[DataType, ...]) -> Schema:
    return Schema(tuple(Field(f"c{i}", t) for i, t in enumerate(types)))


def _rows(types: tuple[DataType, ...]) -> list[Row]:
    """All combinations of edge values, thinned evenly where they are too many."""
    combinations = list(product(*(EDGES[t] for t in types)))
    step = -(-len(combinations) // _MOST_ROWS)
    return combinations[:: step + 1 - step % 2]  # an odd step meets all remainders


def _with_constants(function: str, schema: Schema) -> list[Expression]:
    """The call over columns, and with each argument in turn replaced by each edge value."""
    columns = [column(schema, i) for i in range(len(schema))]
    calls: list[Expression] = [call(function, *columns)]
    for i, type_ in enumerate(schema.types):
        for value in EDGES[type_]:
            calls.append(call(function, *columns[:i], Literal(value, type_), *columns[i + 1 :]))
    return calls


@pytest.mark.parametrize(
    ("function", "types"),
    [pytest.param(f, types, id=f"{f}({','.join(map(str, types))})") for f, types, _ in signatures()],
)
def test_function(function: str, types: tuple[DataType, ...]) -> None:
    if DataType.NULL in types:  # only constants have no type
        check([call(function, *(Literal(None, t) for t in types))], _schema((DataType.BIGINT,)), [(1,), (2,)])
        return
    schema = _schema(types)
    check([call(function, *(column(schema, i) for i in range(len(types))))], schema, _rows(types))
    check(_with_constants(function, schema), schema, _rows(types)[::7])


@pytest.mark.parametrize(("given", "wanted"), sorted(CASTS, key=str), ids=str)
def test_cast(given: DataType, wanted: DataType) -> None:
    schema = _schema((given,))
    constants = [cast(Literal(value, given), wanted) for value in EDGES[given]]
    check([cast(column(schema, 0), wanted), *constants], schema, _rows((given,)))
