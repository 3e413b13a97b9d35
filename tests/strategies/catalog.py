"""The small catalogue that drawn plans and histories speak of, and the few values its columns take."""

from __future__ import annotations

from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.core.rows import Value
from thalweg.core.schema import Schema
from thalweg.core.types import DataType

S = Stream("s", Schema.of(k=DataType.BIGINT, v=DataType.BIGINT))
T = Stream("t", Schema.of(k=DataType.BIGINT, v=DataType.BIGINT))
U = Stream("u", Schema.of(k=DataType.BIGINT, x=DataType.DOUBLE, name=DataType.STRING))
R = Relation("r", Schema.of(k=DataType.BIGINT, name=DataType.STRING))
N = Relation("n", Schema.of(k=DataType.BIGINT, w=DataType.BIGINT), retroactive=False)

# Few values, so that keys meet and rows repeat; doubles with exact sums, so that sums agree in any order.
VALUES: dict[DataType, list[Value]] = {
    DataType.BOOLEAN: [True, False, None],
    DataType.BIGINT: [1, 0, 2, 1, None],
    DataType.DOUBLE: [0.5, -1.0, 2.5, 0.0, None],
    DataType.STRING: ["a", "b", "B", "", None],
    DataType.TIMESTAMP: [0, 1_000_000, 86_400_000_000, None],
    DataType.INTERVAL: [0, 1_500_000, 60_000_000, None],
}


def catalog() -> Catalog:
    """Three streams (two of one schema), a relation and an NRR."""
    made = Catalog()
    for entry in (S, T, U, R, N):
        made.add(entry)
    return made


def catalog_of(plan: Plan) -> Catalog:
    """Only the streams and relations that a plan reads."""
    made = Catalog()
    for node in plan.walk():
        if isinstance(node, StreamScan | RelationScan) and node.source.name not in made:
            made.add(node.source)
    return made
