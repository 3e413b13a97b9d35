"""Compare the rows that a peer's program wrote with the expected rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.core.errors import ThalwegError
from thalweg.runtime.distributed.exchange.codec import unpack
from thalweg_benchmarks.peers.queries import PeerQuery
from thalweg_benchmarks.peers.streams import START, WORKLOADS

_SLIDE = 10_000  # milliseconds between instants


@dataclass(frozen=True)
class Difference:
    """Counts of expected rows, of missing rows and of extra rows, with examples of the last two."""

    expected: int
    missing: int
    extra: int
    examples: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether the answer is right."""
        return self.missing == 0 and self.extra == 0


def connect() -> Any:
    """A connection to DuckDB, which computes the expected rows and compares."""
    try:
        import duckdb
    except ImportError:
        hint = "pip install duckdb"
        raise ThalwegError("the expected rows are computed with DuckDB, which is not installed", hint=hint) from None
    return duckdb.connect()


def expect(database: Any, query: PeerQuery, data: Path) -> None:
    """Create the tables `instants`, `ending` (the time of the last row) and `expected` for the rows in `data`."""
    for stream in WORKLOADS[query.workload]:
        files = f"{data}/parquet/{stream.name}/*.parquet"
        database.execute(
            f"CREATE OR REPLACE TABLE {stream.name} AS"
            f" SELECT * REPLACE (make_timestamp(epoch_us(ts)) AS ts) FROM read_parquet('{files}')"
        )
    ends = " UNION ALL ".join(f"SELECT MAX(ts) AS ts FROM {stream.name}" for stream in WORKLOADS[query.workload])
    database.execute(f"CREATE OR REPLACE TABLE ending AS SELECT MAX(ts) AS t FROM ({ends})")
    database.execute(
        "CREATE OR REPLACE TABLE instants AS SELECT make_timestamp(1000 * ms) AS t FROM (SELECT UNNEST("
        f"generate_series({START} + {_SLIDE}, epoch_ms((SELECT MIN(ts) FROM ({ends}))), {_SLIDE})) AS ms)"
    )
    database.execute(f"CREATE OR REPLACE TABLE expected AS {query.expected}")


def compare(database: Any, query: PeerQuery, out: Path) -> Difference:
    """Compare the rows that a program wrote under `out` with the table `expected`."""
    database.execute(f"CREATE OR REPLACE TEMP VIEW written AS {_written(database, query, out)}")
    if query.shape == "at":  # systems differ in windows that end after the last row: leave these out
        database.execute(
            "CREATE OR REPLACE TEMP TABLE got AS SELECT * FROM written WHERE t IN (SELECT t FROM instants)"
        )
    else:
        database.execute("CREATE OR REPLACE TEMP TABLE got AS SELECT * FROM written")
    gone = database.sql("SELECT * FROM expected EXCEPT ALL SELECT * FROM got")
    more = database.sql("SELECT * FROM got EXCEPT ALL SELECT * FROM expected")
    missing, extra = len(gone), len(more)
    examples = [f"missing {row}" for row in gone.limit(2).fetchall()] + [
        f"extra {row}" for row in more.limit(2).fetchall()
    ]
    return Difference(len(database.table("expected")), missing, extra, tuple(examples))


def _written(database: Any, query: PeerQuery, out: Path) -> str:
    """SQL that reads the rows under `out`: dated changes, a changelog with signs, or plain rows."""
    if any(out.rglob("*.parquet")):
        source = f"read_parquet('{out}/**/*.parquet', union_by_name = true)"
    else:
        source = _csv(database, query, out)
    columns = {name: str(type_) for name, type_, *_ in database.sql(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    if {"queries", "changes"} <= columns.keys():
        return _packed(database, source)
    typed = ", ".join(_typed(name, columns.get(name, "")) for name in query.columns)
    if "_exp" in columns:
        return _dated(query, source, typed)
    if "batch" in columns and query.shape == "final":  # a key's newest batch replaces its older ones
        newest = f"FROM {source} QUALIFY batch = MAX(batch) OVER (PARTITION BY {query.columns[0]})"
        return f"SELECT {typed} FROM ({newest})"
    if "diff" in columns:  # a row occurs as often as its changes add up to
        counted = f"SELECT {typed}, SUM(diff)::BIGINT AS diff FROM {source} GROUP BY ALL"
        names = ", ".join(query.columns)
        return f"SELECT {names} FROM (SELECT {names}, UNNEST(range(diff)) AS copy FROM ({counted}) WHERE diff > 0)"
    return f"SELECT {typed} FROM {source}"


def _packed(database: Any, source: str) -> str:
    """The rows that a flow's queries emitted, as (number of the query, first column)."""
    found = []
    for queries, blob in database.sql(f"SELECT queries, changes FROM {source}").fetchall():
        changes = unpack(blob)
        gained = changes.filter(pc.greater(changes.column("sign"), 0))
        numbers = pa.array([int(query.removeprefix("q")) - 1 for query in queries])
        found.append(pa.table({"q": numbers.take(gained.column("owner")), "id": gained.column(0)}))
    database.register("packed", pa.concat_tables(found))
    return "SELECT q, id FROM packed"


def _dated(query: PeerQuery, source: str, typed: str) -> str:
    """SQL for changes that have a start and an end: the rows alive at each instant."""
    names = ", ".join(name for name in query.columns if name != "t")
    if query.shape == "all":
        return f"SELECT {typed} FROM {source} WHERE _sign > 0"
    alive = f"(_ts IS NULL OR {_plain('_ts')} <= t) AND (_exp IS NULL OR {_plain('_exp')} > t)"
    instants = "instants" if query.shape == "at" else "ending"
    counted = f"SELECT t, {names}, SUM(_sign)::BIGINT AS diff FROM {instants} JOIN {source} ON {alive} GROUP BY ALL"
    own = ", ".join(query.columns)
    return f"SELECT {own} FROM (SELECT {own}, UNNEST(range(diff)) AS copy FROM ({counted}) WHERE diff > 0)"


def _typed(name: str, type_: str) -> str:
    """A column for comparison: times become timestamps without a zone, other columns stay as they are."""
    if name not in ("t", "ts"):
        return name
    return f"make_timestamp(1000 * {name}) AS {name}" if type_ == "BIGINT" else f"{_plain(name)} AS {name}"


def _plain(time: str) -> str:
    """A timestamp in UTC without a zone."""
    return f"make_timestamp(epoch_us({time}))"


def _csv(database: Any, query: PeerQuery, out: Path) -> str:
    """Read CSV with a header, or without; without one, a first extra column is the sign of the change."""
    files = [
        file for file in out.rglob("*") if file.is_file() and file.stat().st_size and not file.name.endswith(".crc")
    ]
    if not files:
        return "(SELECT * FROM expected WHERE FALSE)"
    listed = "[" + ", ".join(f"'{file}'" for file in files) + "]"
    with files[0].open() as opened:
        first = opened.readline().strip().replace('"', "").split(",")
    if first[0].isidentifier():  # `id` has another name where a system reserves it
        columns = [*query.columns, *first[len(query.columns) :]]
        return f"read_csv({listed}, header = false, skip = 1, names = {columns})"
    columns = list(query.columns) if len(first) == len(query.columns) else ["diff", *query.columns]
    return f"read_csv({listed}, header = false, names = {columns})"
