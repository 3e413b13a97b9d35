"""`thalweg flow start` on Spark: runs a flow until it is done or stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.algebra.catalog import Catalog
from thalweg.cli.output import console, say
from thalweg.cli.spark.jobs import SparkJob, interrupts, run_jobs
from thalweg.flows.catalog import FILE, Catalogue
from thalweg.runtime.source import Source
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.flow import SparkFlow
from thalweg.runtime.spark.api.flow_run import SparkFlowRun
from thalweg.runtime.spark.api.local_spark import quiet_spark
from thalweg.runtime.spark.tools.command_line_sources import declare_given


@dataclass
class FlowJob(SparkJob):
    """A flow; it knows its own checkpoint and sinks."""

    flow: SparkFlow
    take_over: bool = False  # though another driver holds the checkpoint

    def start(self, trigger: dict[str, Any] | None) -> SparkFlowRun:
        """Start or resume the flow."""
        self.run = run = self.flow.start(trigger=trigger, take_over=self.take_over)
        return run


def run_flow(
    folder: Path,
    catalog: Catalog,
    sources: Mapping[str, Source],
    keys: Mapping[str, Sequence[str]],
    shards: int | None,
    until_done: bool,
    seconds: float | None,
    take_over: bool = False,
) -> bool:
    """Run the flow in a folder; True if it has ended by itself. The queries of a catalogue there are added to it."""
    spark = quiet_spark(folder / "spark.log", shards or 2)
    try:
        engine = Engine(spark, shards=shards)
        declare_given(engine, catalog, sources)
        flow = engine.flow(folder.name, checkpoint=folder, keys=keys)
        if (folder / FILE).exists():
            flow.take_over(Catalogue(folder).live.values())
        with interrupts() as stop:
            ended = run_jobs([FlowJob(folder.name, flow, take_over)], stop, until_done, False, seconds)
        for query in flow.queries():
            if query.reason is not None:
                line = f"{query.id} ({query.name}) is suspended: {query.reason}"
                say(console(stderr=True), line, "yellow")
        return ended
    finally:
        spark.stop()
