"""`thalweg run`: the queries of a script, with their sources and sinks, as jobs on a local Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from thalweg.algebra.catalog import Catalog
from thalweg.cli.output import console
from thalweg.cli.script import NamedQuery
from thalweg.cli.spark.jobs import QueryJob, SparkJob, interrupts, run_jobs
from thalweg.cli.spark.progress import Progress
from thalweg.cli.spark.sinks import parse_sinks, shows_console
from thalweg.cli.spark.verdicts import Verdicts
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.source import Source
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.local_spark import quiet_spark
from thalweg.runtime.spark.sinks import ConsoleSink, ParquetSink, Sink
from thalweg.runtime.spark.tools.command_line_sources import declare


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
    ) -> None:
        self._catalog, self._queries, self._sources = catalog, queries, sources
        self._folder, self._shards, self._groups = folder, shards, groups
        self._sinks, self._limit = sinks, limit
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
        place = self._folder / query.name
        sinks: list[Sink] = parse_sinks(self._sinks, query.name, len(self._queries) > 1)
        if not any(isinstance(sink, ParquetSink) for sink in sinks):  # from the first start on, to keep all changes
            sinks.append(ParquetSink(Checkpoint(place).answers))
        job = QueryJob(query.name, engine.query(query.plan, name=query.name), place, sinks)
        if shows_console(self._sinks):
            title = query.name if len(self._queries) > 1 else ""
            sink = ConsoleSink(console(), self._limit, lambda: _status(job), title)
            self._consoles.append(sink)
            sinks.append(sink)
        return job


def _status(job: SparkJob) -> str:
    return "" if job.run is None else Progress(job.name, job.run).line()
