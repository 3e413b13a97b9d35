"""Small plans, written down as one would say them: `join(sliding(S1), sliding(S2))`."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.algebra.catalog import Relation, Stream
from thalweg.algebra.expressions import Aggregate, Column, Expression, UserAggregate, and_, call, column, literal
from thalweg.algebra.plan import (
    Distinct,
    GroupBy,
    Intersect,
    Join,
    JoinKind,
    Named,
    NamedAggregate,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    Select,
    SemiJoin,
    SortKey,
    StreamScan,
    TopK,
    Union,
    Windowed,
)
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange, Window
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType

PAIR = Schema.of(a=DataType.BIGINT, b=DataType.BIGINT)
S1 = StreamScan(Stream("s1", PAIR))
S2 = StreamScan(Stream("s2", PAIR))
S3 = StreamScan(Stream("s3", PAIR))
R = RelationScan(Relation("r", PAIR, key=(0,)))
Q = RelationScan(Relation("q", PAIR))
NRR = RelationScan(Relation("n", PAIR, key=(0,), retroactive=False))

SLIDING: dict[str, Window] = {"range": Range(60), "range slide": Range(60, 10), "now": Now(), "rows": Rows(100)}
TUMBLING: dict[str, Window] = {"tumbling": Range(60, 60), "tumbling rows": Rows(10, 10)}
PARTITIONED: dict[str, Window] = {
    "partitioned": PartitionedRows((0,), 10),
    "partitioned range": PartitionedRows((0, 1), 10, Range(60)),
}
LANDMARK: dict[str, Window] = {
    "unbounded": Unbounded(),
    "start at": Landmark(start=7),
    "until": Landmark(end=9),
    "from until": Landmark(7, 9),
}
VALUE: dict[str, Window] = {"value": ValueRange(0, 10, DataType.BIGINT)}
WINDOWS = SLIDING | TUMBLING | PARTITIONED | LANDMARK | VALUE


def sliding(stream: Plan, width: int = 60) -> Windowed:
    """`stream [RANGE width]`."""
    return Windowed(stream, Range(width))


def rows(stream: Plan, count: int = 100) -> Windowed:
    """`stream [ROWS count]`."""
    return Windowed(stream, Rows(count))


def select(child: Plan) -> Select:
    """The rows whose first column is greater than 1."""
    return Select(child, call(">", column(child.schema, 0), literal(1)))


def project(child: Plan, *positions: int) -> Project:
    """The columns at `positions`, as they are."""
    return Project(child, tuple(Named(column(child.schema, i), child.schema[i].name) for i in positions))


def same_first(left: Plan, right: Plan) -> Expression:
    """The condition that the first columns are equal."""
    other = Column(len(left.schema), right.schema[0].type, right.schema[0].name)
    return call("=", column(left.schema, 0), other)


def join(left: Plan, right: Plan, kind: JoinKind = JoinKind.INNER) -> Join:
    """The join on the first columns."""
    return Join(left, right, same_first(left, right), kind)


def picky_join(left: Plan, right: Plan) -> Join:
    """The join on the first columns, of which not all pairs will do."""
    both = left.schema + right.schema
    more = call("<", column(both, 1), column(both, len(left.schema) + 1))
    return Join(left, right, and_([same_first(left, right), more]))


def semi_join(left: Plan, right: Plan) -> SemiJoin:
    """`EXISTS` on the first columns."""
    return SemiJoin(left, right, same_first(left, right))


def anti_join(left: Plan, right: Plan) -> SemiJoin:
    """`NOT EXISTS` on the first columns."""
    return SemiJoin(left, right, same_first(left, right), anti=True)


def nrr_join(left: Plan, right: Plan = NRR, kind: JoinKind = JoinKind.INNER) -> NrrJoin:
    """The join with an NRR on the first columns."""
    return NrrJoin(left, right, same_first(left, right), kind)


def negation(left: Plan, right: Plan) -> Negation:
    """`EXCEPT ALL ON` the first columns."""
    return Negation(left, right, ((0, 0),))


def group_by(child: Plan, *keys: int, distinct: bool = False, function: str | UserAggregate = "count") -> GroupBy:
    """An aggregate of the second column (of its distinct values, if so wanted) for each value of `keys`."""
    named = tuple(Named(column(child.schema, k), child.schema[k].name) for k in keys)
    aggregate = Aggregate.of(function, column(child.schema, 1), distinct)
    return GroupBy(child, named, (NamedAggregate(aggregate, "n"),))


def top(child: Plan, limit: int = 3) -> TopK:
    """The first rows by the second column."""
    return TopK(child, (SortKey(column(child.schema, 1)),), limit)


UNARY: dict[str, Callable[[Plan], Plan]] = {
    "selection": select,
    "projection": lambda p: project(p, 1, 0),
    "distinct": Distinct,
    "group-by": lambda p: group_by(p, 0),
}
BINARY: dict[str, Callable[[Plan, Plan], Plan]] = {
    "union": Union,
    "join": join,
    "intersection": Intersect,
    "semi-join": semi_join,
    "negation": negation,
}

# The packet trace of GolabOzsu2005 §6.1.
PACKETS = Schema(
    tuple(
        Field(name, type_)
        for name, type_ in [
            ("ts", DataType.TIMESTAMP),
            ("src", DataType.STRING),
            ("dst", DataType.STRING),
            ("protocol", DataType.STRING),
            ("size", DataType.BIGINT),
        ]
    )
)
SRC = 1


def link(name: str) -> StreamScan:
    """An outgoing link: a stream with timestamps."""
    return StreamScan(Stream(name, PACKETS, timestamp=0))


def ftp(child: Plan) -> Select:
    """The ftp packets."""
    return Select(child, call("=", column(child.schema, 3), literal("ftp")))


def join_on_src(left: Plan, right: Plan) -> Join:
    """The join on the source address."""
    width = len(left.schema)
    condition = call("=", column(left.schema, SRC), Column(width + SRC, DataType.STRING, "src"))
    return Join(left, right, condition)


def negation_on_src(left: Plan, right: Plan) -> Negation:
    """`EXCEPT ALL ON (src)`."""
    return Negation(left, right, ((SRC, SRC),))


def figure_6_left(width: int) -> Negation:
    """Query 5 with the negation pulled up: (S1 |x| ftp(S3)) - S2."""
    s1, s2, s3 = (Windowed(link(name), Range(width)) for name in ("link1", "link2", "link3"))
    return negation_on_src(join_on_src(s1, ftp(s3)), s2)


def figure_6_right(width: int) -> Join:
    """Query 5 with the negation pushed down: (S1 - S2) |x| ftp(S3)."""
    s1, s2, s3 = (Windowed(link(name), Range(width)) for name in ("link1", "link2", "link3"))
    return join_on_src(negation_on_src(s1, s2), ftp(s3))
