"""Helpers of all generators: times of arrival, names for codes, and the table of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from thalweg.core.lanes import Ints, Lane
from thalweg.core.schema import Schema
from thalweg.core.time import SECOND
from thalweg.generators.draws import Draws

START = 1_767_225_600 * SECOND  # 2026-01-01 00:00:00, the time of row 0 unless another is given


def row_numbers(first_row: int, rows: int) -> Ints:
    """first_row, first_row + 1, ..."""
    return np.arange(first_row, first_row + rows, dtype=np.int64)


def arrivals(draws: Draws, rate: float, start: int, what: str = "arrival") -> Ints:
    """When each row arrives: at `rate` rows per second, row i at a random moment of slot i, and so in order."""
    slots = draws.rows + draws.uniform(what)
    return np.asarray(start + np.floor(slots * (SECOND / rate)).astype(np.int64))


def named(codes: Ints, names: pa.Array) -> pa.Array:
    """The name of each code."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names).cast(pa.string())


def tabulate(schema: Schema, columns: Sequence[Lane | pa.Array]) -> pa.Table:
    """Columns as a table of `schema`; times are given in microseconds."""
    arrays = [_column(column, field.type.arrow) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema.arrow)


def _column(column: Lane | pa.Array, type_: pa.DataType) -> Any:
    array = pa.array(column) if isinstance(column, np.ndarray) else column
    return array if array.type == type_ else array.cast(type_)
