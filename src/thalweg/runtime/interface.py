"""One interface over all engines: `Session` in this process, `Engine` on Spark, and the flows and queries of both.

Two things depend on where a query runs. An *answer* is a list of tuples in this process, a DataFrame on Spark.
*Changes* are, in this process, a list of those since the last call; on Spark, a DataFrame of all so far with the
columns `_t` and `_sign`, to be filtered by time. All other types are the same. `tests/runtime/test_interface.py` holds
every implementation to these signatures, and lists the methods and options that only one engine has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import UserAggregate, UserFunction
from thalweg.algebra.plan import Plan
from thalweg.core.schema import Schema
from thalweg.core.time import Clock
from thalweg.flows.metrics import QueryMetrics
from thalweg.flows.query_info import FlowMetrics, QueryInfo
from thalweg.fluent import Table
from thalweg.kernel.pipeline import Settings
from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg.optimizer.statistics import Statistics
from thalweg.patterns import Pattern

Time = datetime | int  # a datetime where streams have timestamps, an int where they tick
TimeLike = (
    datetime | int | str
)  # text is ISO 8601; an int counts ticks, which are microseconds where there are timestamps
ExplainFormat = Literal["text", "json"]

Answer_co = TypeVar("Answer_co", covariant=True)
Changes_co = TypeVar("Changes_co", covariant=True)


@dataclass(frozen=True)
class RunMetrics:
    """What a query, or a flow on Spark, holds and has done so far; empty before the first rows or batch."""

    now: Time | None = None  # the clock (watermark)
    stored: int = 0  # tuples in the state of operators
    waiting: int = 0  # tuples that wait for the clock, because rows before them may still come
    late: Mapping[str, int] = field(default_factory=dict)  # by stream: side output of late rows
    bad_rows: Mapping[str, int] = field(default_factory=dict)  # by source: side output of rows that are no tuples
    not_kept: Mapping[str, int] = field(default_factory=dict)  # by side output ("late s"): rows that were only counted
    rejected: Mapping[str, int] = field(default_factory=dict)  # by sink: changes with values that it cannot write
    retries: Mapping[str, int] = field(default_factory=dict)  # by sink: attempts in this run after one that failed
    operators: tuple[OperatorMetrics, ...] = ()  # from the sources to the answer
    batch: int | None = None  # the last micro-batch that is done; None in this process
    rows_per_second: float | None = None  # in that batch


class StandingQuery(Protocol[Answer_co, Changes_co]):
    """A query whose answer changes: one of its own, or one of a flow."""

    @property
    def name(self) -> str:
        """The query's name: the one that was given, or q1, q2, ..."""

    @property
    def plan(self) -> Plan:
        """The logical plan, as written."""

    @property
    def schema(self) -> Schema:
        """The answer's columns."""

    @property
    def patterns(self) -> Pattern:
        """The update pattern of the query's result."""

    @property
    def clock(self) -> Clock:
        """Whether time is timestamps or ticks."""

    @property
    def now(self) -> Time | None:
        """The clock (watermark): the answer is known up to here; None before it has started."""

    def reads(self, name: str) -> bool:
        """Whether the query reads a stream or table."""

    def answer(self, at: TimeLike | None = None) -> Answer_co:
        """The answer now, or at an instant that has passed, each row as often as it is in."""

    def changes(self) -> Changes_co:
        """The rows that the answer has gained (+1) and lost (-1), net at each instant."""


class QueryProtocol(StandingQuery[Answer_co, Changes_co], Protocol[Answer_co, Changes_co]):
    """A query of its own: `LocalQuery`, `SparkQuery`, and `SparkQueryRun` once that is started."""

    def explain(self, *, format: ExplainFormat = "text", analyze: bool = False, plans: bool = False) -> Any:
        """The plan with its update patterns, state and bounds, then the plan that is run and its costs.

        With `analyze`, measurements of the operators stand beside the estimates; with `plans`, all plans that were
        compared are shown. The result is text, or a dictionary for JSON.
        """

    def metrics(self) -> RunMetrics:
        """Counts of tuples held, waiting and late, and of each operator's work."""


class FlowQueryProtocol(StandingQuery[Answer_co, Changes_co], Protocol[Answer_co, Changes_co]):
    """A query of a flow: `LocalFlowQuery`, `SparkFlowQuery`. Its clock is the flow's."""

    @property
    def id(self) -> str:
        """The id that `add` gave; no other query of the flow ever gets it."""

    def explain(self, *, format: ExplainFormat = "text") -> Any:
        """The plan with its update patterns, the plan that is run, and what it shares or where it runs."""

    def metrics(self) -> QueryMetrics:
        """Tuples seen, results given, and the query's part of the flow's cost."""


class FlowProtocol(Protocol[Answer_co, Changes_co]):
    """Standing queries that share one pass over their streams, and come and go: `LocalFlow`, `SparkFlow`.

    Every `query` argument is an id or a name.
    """

    name: str

    @property
    def now(self) -> Time | None:
        """The flow's clock (watermark); None before it has started."""

    def add(
        self,
        query: str | Table | Plan,
        *,
        name: str | None = None,
        owner: str | None = None,
        backfill: bool = False,
        quotas: Mapping[str, int] | None = None,
    ) -> str:
        """Add a query and return its id. It sees the tuples that arrive from then on.

        With `backfill` it starts from the tuples that the flow holds: those within reach of other queries' windows.
        `quotas` limit `results`, `results_per_second` and `state` (see `Quotas`): a query that exceeds a quota, or
        raises an error, is suspended.
        """

    def add_all(
        self,
        queries: Sequence[str | Table | Plan],
        *,
        names: Sequence[str] | None = None,
        owner: str | None = None,
        backfill: bool = False,
        quotas: Mapping[str, int] | None = None,
    ) -> list[str]:
        """Add several queries, which all begin with the same tuple; their ids."""

    def drop(self, query: str) -> None:
        """End a query; the others go on."""

    def queries(self) -> list[QueryInfo]:
        """All queries of the flow, suspended ones too, in the order in which they were added."""

    def get_query(self, query: str) -> FlowQueryProtocol[Answer_co, Changes_co]:
        """One query, to ask it again and again."""

    def answer(self, query: str, at: TimeLike | None = None) -> Answer_co:
        """The answer of a query now, or at an instant since it was added."""

    def changes(self, query: str) -> Changes_co:
        """The changes of a query's answer."""

    def explain(self, query: str, *, format: ExplainFormat = "text") -> Any:
        """How a query runs."""

    def metrics(self) -> FlowMetrics:
        """What the queries have seen, given and cost."""


class EngineProtocol(Protocol[Answer_co, Changes_co]):
    """Streams, tables, standing queries and flows: `Session` (`tw.local()`) and `Engine` (Spark)."""

    @property
    def catalog(self) -> Catalog:
        """The streams, tables, views and functions that queries may name."""

    def execute(
        self, cql: str, *, source: str = "query", strategy: str = "auto", settings: Settings | None = None
    ) -> Sequence[QueryProtocol[Answer_co, Changes_co]]:
        """Run a script of CREATE and REGISTER statements and queries; return its queries.

        `source` is the script's name in errors. A script with a mistake leaves nothing behind.
        """

    def query(
        self,
        query: str | Table | Plan,
        *,
        name: str | None = None,
        strategy: str = "auto",
        settings: Settings | None = None,
        statistics: Statistics | None = None,
    ) -> QueryProtocol[Answer_co, Changes_co]:
        """A standing query: CQL, a table built with `table(...)`, or a plan.

        `strategy` is `auto`, except for comparisons. Only `auto` chooses among plans, by `statistics` and by what was
        declared about the sources; the other strategies run the plan as written.
        """

    def table(self, name: str) -> Table:
        """A stream, table or view, to build a query on in Python."""

    def register(self, *functions: UserAggregate | UserFunction | type) -> None:
        """Let queries call functions and aggregates of your own, made with `@function` and `@aggregate`."""

    def queries(self) -> list[QueryInfo]:
        """The queries that were made and not dropped, in order; flows list their own."""

    def get_query(self, name: str) -> QueryProtocol[Answer_co, Changes_co]:
        """One of these queries."""

    def drop(self, query: Any) -> None:
        """End a query, given by its name or itself; the others go on."""

    def flow(self, name: str = "flow") -> FlowProtocol[Answer_co, Changes_co]:
        """The flow of that name."""
