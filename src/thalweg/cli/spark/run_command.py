"""`thalweg run`: the queries of a script, with their sources and sinks, as jobs on a local Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qs

from thalweg.algebra.catalog import Catalog
from thalweg.cli.output import console
from thalweg.cli.script import NamedQuery
from thalweg.cli.spark.jobs import QueryJob, SparkJob, interrupts, run_jobs
from thalweg.cli.spark.progress import Progress
from thalweg.cli.spark.verdicts import Verdicts
from thalweg.core.errors import DataError, did_you_mean
from thalweg.core.path_names import place_of
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.source import Source
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.local_spark import quiet_spark
from thalweg.runtime.spark.sinks import ConsoleSink, ParquetSink, Sink, TableSink, postgres, sqlite
from thalweg.runtime.spark.tools.command_line_sources import declare

KINDS = ("console", "none", "parquet", "sqlite", "postgres")


class RunCommand:
    """One call of `thalweg run`: its queries, sources, sinks and options."""

    def __init__(
        self,
        catalog: Catalog,
        queries: Sequence[NamedQuery],
        sources: Mapping[str, Source],
        folder: Path,
        shards: int | None,
        groups: int | None,
        sinks: Sequence[str],
        limit: int,
        take_over: bool = False,
    ) -> None:
        self._catalog, self._queries, self._sources = catalog, queries, sources
        self._folder, self._shards, self._groups = folder, shards, groups
        self._sinks, self._limit, self._take_over = sinks, limit, take_over
        for query in queries:
            parse_sinks(sinks, query.name, len(queries) > 1)  # mistakes are reported before Spark starts
        self._consoles: list[ConsoleSink] = []

    def run(self, until_done: bool, seconds: float | None, verify: bool) -> tuple[bool, bool]:
        """Run the queries; return whether they ended by themselves, and whether any answer was wrong."""
        spark = quiet_spark(self._folder / "spark.log", self._shards or 2)
        try:
            engine = Engine(spark, shards=self._shards, groups=self._groups)
            declare(engine, self._catalog, [query.plan for query in self._queries], self._sources)
            jobs = [self._job(engine, query) for query in self._queries]
            verdicts = Verdicts(self._folder / "verify") if verify else None
            with interrupts() as stop:
                quiet = any(sink.in_place for sink in self._consoles)
                meanwhile = verdicts.take if verdicts is not None else lambda job: None
                ended = run_jobs(jobs, stop, until_done, quiet, seconds, meanwhile)
                for sink in self._consoles:
                    sink.close()
                if verdicts is not None:
                    verdicts.finish(jobs)
            return ended, verdicts is not None and verdicts.differs
        finally:
            spark.stop()

    def _job(self, engine: Engine, query: NamedQuery) -> QueryJob:
        place = place_of(self._folder, query.name)
        sinks: list[Sink] = parse_sinks(self._sinks, query.name, len(self._queries) > 1)
        if not any(isinstance(sink, ParquetSink) for sink in sinks):  # from the first start on, to keep all changes
            sinks.append(ParquetSink(Checkpoint(place).answers))
        job = QueryJob(query.name, engine.query(query.plan, name=query.name), place, sinks, self._take_over)
        if shows_console(self._sinks):
            title = query.name if len(self._queries) > 1 else ""
            sink = ConsoleSink(console(), self._limit, lambda: _status(job), title)
            self._consoles.append(sink)
            sinks.append(sink)
        return job


def _status(job: SparkJob) -> str:
    return "" if job.run is None else Progress(job.name, job.run).line()


def parse_sinks(given: Sequence[str], query: str, several: bool) -> list[Sink]:
    """The given sinks, except for the console; each of `several` queries gets a folder or table of its own."""
    return [sink for text in given if (sink := _parse_sink(text, query, several)) is not None]


def shows_console(given: Sequence[str]) -> bool:
    """Whether to show the answer on the console: by default, or if it is given."""
    return not given or "console" in given


def _parse_sink(text: str, query: str, several: bool) -> Sink | None:
    kind, _, where = text.partition(":")
    match kind:
        case "console" | "none" if not where:
            return None
        case "parquet" if where:
            return ParquetSink(place_of(Path(where), query) if several else where)
        case "sqlite" | "postgres" if where:
            address, table = _table(text, where, query)
            return TableSink(sqlite(address) if kind == "sqlite" else postgres(address), table)
    raise DataError(
        f"--sink {text} is not understood",
        candidates=["console", "none", "parquet:FOLDER", "sqlite:FILE?table=NAME", "postgres:ADDRESS?table=NAME"],
        hint=did_you_mean(kind, KINDS),
    )


def _table(text: str, where: str, query: str) -> tuple[str, str]:
    """The address and the table, by default the query's name; other options after `?` stay in the address."""
    address, _, options = where.partition("?")
    parts = [part for part in options.split("&") if part]
    named = parse_qs("&".join(part for part in parts if part.startswith("table=")))
    rest = [part for part in parts if not part.startswith("table=")]
    return address + ("?" + "&".join(rest) if rest else ""), named.get("table", [query])[-1]
