"""The six value types, and how they map to Python and Arrow.

A NULL is Python's None in rows and a null in Arrow. TIMESTAMP and INTERVAL are int64 microseconds inside
rows. There is no NaN: a scalar without a value is NULL (see docs/semantics.md, "Scalars are total").
"""

from __future__ import annotations

from enum import Enum

import pyarrow as pa


class DataType(Enum):
    """The type of a column or scalar expression."""

    BOOLEAN = "BOOLEAN"
    BIGINT = "BIGINT"
    DOUBLE = "DOUBLE"
    STRING = "STRING"
    TIMESTAMP = "TIMESTAMP"
    INTERVAL = "INTERVAL"
    NULL = "NULL"  # the type of a bare NULL literal; fits everywhere

    def __str__(self) -> str:
        return self.value

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type of a column of this type."""
        return _ARROW[self]

    @property
    def is_numeric(self) -> bool:
        """Whether arithmetic on plain numbers applies."""
        return self in (DataType.BIGINT, DataType.DOUBLE)


_ARROW: dict[DataType, pa.DataType] = {
    DataType.BOOLEAN: pa.bool_(),
    DataType.BIGINT: pa.int64(),
    DataType.DOUBLE: pa.float64(),
    DataType.STRING: pa.string(),
    DataType.TIMESTAMP: pa.timestamp("us"),
    DataType.INTERVAL: pa.duration("us"),
    DataType.NULL: pa.null(),
}

# Every spelling that CREATE STREAM, CREATE RELATION and CAST accept.
TYPE_NAMES: dict[str, DataType] = {
    "BOOLEAN": DataType.BOOLEAN,
    "BOOL": DataType.BOOLEAN,
    "TINYINT": DataType.BIGINT,
    "SMALLINT": DataType.BIGINT,
    "INT": DataType.BIGINT,
    "INTEGER": DataType.BIGINT,
    "BIGINT": DataType.BIGINT,
    "LONG": DataType.BIGINT,
    "FLOAT": DataType.DOUBLE,
    "REAL": DataType.DOUBLE,
    "DOUBLE": DataType.DOUBLE,
    "DOUBLE PRECISION": DataType.DOUBLE,
    "STRING": DataType.STRING,
    "TEXT": DataType.STRING,
    "VARCHAR": DataType.STRING,
    "CHAR": DataType.STRING,
    "TIMESTAMP": DataType.TIMESTAMP,
    "DATETIME": DataType.TIMESTAMP,
    "INTERVAL": DataType.INTERVAL,
}

# A BIGINT is symmetric: -2^63 is none, so that engines can use it to mark a NULL (docs/semantics.md).
INT64_MIN = -(2**63) + 1
NO_BIGINT = -(2**63)
INT64_MAX = 2**63 - 1


def common_type(left: DataType, right: DataType) -> DataType | None:
    """The type both sides become when they meet (comparison, CASE, UNION), or None if there is none."""
    if left is right or right is DataType.NULL:
        return left
    if left is DataType.NULL:
        return right
    if left.is_numeric and right.is_numeric:
        return DataType.DOUBLE
    return None
