"""Registers the names of all classes that plans and catalogues consist of."""

from __future__ import annotations

from typing import Any

from thalweg.algebra.catalog import Relation, Stream, View
from thalweg.algebra.codec.names import register
from thalweg.algebra.expressions import Aggregate, Call, Case, Cast, Column, Literal
from thalweg.algebra.plan import (
    Attribute,
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    JoinKind,
    MultiJoin,
    Named,
    NamedAggregate,
    Negation,
    NrrJoin,
    Project,
    RelationScan,
    RStream,
    Select,
    SemiJoin,
    SortKey,
    StreamScan,
    TopK,
    Union,
    Windowed,
)
from thalweg.algebra.statistics import SourceStatistics
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType

_TABLE: dict[str, type[Any]] = {
    # types and sources
    "type": DataType,
    "field": Field,
    "schema": Schema,
    "stream": Stream,
    "relation": Relation,
    "view": View,
    "statistics": SourceStatistics,
    # expressions
    "column": Column,
    "literal": Literal,
    "call": Call,
    "case": Case,
    "cast": Cast,
    "computed": Aggregate,
    # windows
    "range": Range,
    "rows": Rows,
    "partitioned-rows": PartitionedRows,
    "value-range": ValueRange,
    "landmark": Landmark,
    "now": Now,
    "unbounded": Unbounded,
    # operators and their parts
    "stream-scan": StreamScan,
    "relation-scan": RelationScan,
    "window": Windowed,
    "select": Select,
    "project": Project,
    "distinct": Distinct,
    "group-by": GroupBy,
    "top-k": TopK,
    "union": Union,
    "intersect": Intersect,
    "negation": Negation,
    "join": Join,
    "join-kind": JoinKind,
    "semi-join": SemiJoin,
    "nrr-join": NrrJoin,
    "multi-join": MultiJoin,
    "join-attribute": Attribute,
    "istream": IStream,
    "dstream": DStream,
    "rstream": RStream,
    "item": Named,
    "aggregate-item": NamedAggregate,
    "sort-key": SortKey,
}

for _name, _class in _TABLE.items():
    register(_name, _class)
