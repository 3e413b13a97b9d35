"""The folder of a flow: a catalogue of its own, or the checkpoint of a flow that runs on Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.core.time import Instant
from thalweg.cql import check_syntax
from thalweg.flows.catalog import Catalogue
from thalweg.flows.command import Command
from thalweg.flows.query_info import FlowMetrics
from thalweg.runtime.distributed.checkpoint.flow_desk import FlowDesk
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.report import flow_metrics

METRICS = "metrics.json"


@dataclass(frozen=True)
class ReportedQuery:
    """A query in metrics.json, as `QueryInfo.as_json` has it; it has shares in the place of some counts."""

    id: str
    name: str
    owner: str
    state: str
    reason: str | None
    seen: int
    results: int
    seconds: float
    work: float
    stored: int
    selectivity: float
    saved: float


@dataclass(frozen=True)
class ReportedMetrics:
    """The contents of metrics.json: `FlowMetrics.as_json`, and whether the flow has ended."""

    flow: str
    now: str | None
    seconds: float
    work: float
    saved: float
    held: int
    queries: tuple[ReportedQuery, ...]
    done: bool

    @staticmethod
    def of(metrics: FlowMetrics, done: bool) -> ReportedMetrics:
        """The metrics of a flow."""
        return ReportedMetrics.read({**metrics.as_json(), "done": done})

    @staticmethod
    def read(tree: Mapping[str, Any]) -> ReportedMetrics:
        """The inverse of `as_json`."""
        return ReportedMetrics(**{**tree, "queries": tuple(ReportedQuery(**query) for query in tree["queries"])})

    def as_json(self) -> dict[str, Any]:
        """For the file, and for programs."""
        return {**vars(self), "queries": [dict(vars(query)) for query in self.queries]}

    def write(self, flowdir: str) -> None:
        """Replace the file in one step: a reader sees the old metrics or the new ones."""
        path = Path(flowdir) / METRICS
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(self.as_json(), ensure_ascii=False), encoding="utf-8")
        draft.replace(path)


class CatalogueFolder:
    """A catalogue, and beside it the metrics of the flow that runs, or ran last."""

    def __init__(self, folder: str, there: bool) -> None:
        self._folder = Path(folder)
        self._catalogue = Catalogue.there(folder) if there else Catalogue(folder)

    @property
    def live(self) -> dict[str, Command]:
        """The queries that have been added and not dropped, by id."""
        return self._catalogue.live

    def add(
        self, cql: str, name: str, owner: str, backfill: bool, quotas: Mapping[str, int], today: Instant
    ) -> Command:
        """Add a query to the catalogue; only its syntax is checked, the rest when the flow runs."""
        check_syntax(cql)
        return self._catalogue.add(cql, name, owner, backfill, dict(quotas), today)

    def drop(self, query: str) -> Command:
        """Drop a query from the catalogue."""
        return self._catalogue.drop(query)

    def metrics(self) -> ReportedMetrics | None:
        """The metrics that the flow wrote last; None if it has never run."""
        path = self._folder / METRICS
        return ReportedMetrics.read(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


class CheckpointFolder:
    """A checkpoint of a flow on Spark: commands are written to it, and metrics read from it."""

    def __init__(self, folder: str) -> None:
        self._desk, self._checkpoint = FlowDesk.at(folder), Checkpoint.at(folder)

    @property
    def live(self) -> dict[str, Command]:
        """The queries that have been added and not dropped, by id."""
        return self._desk.commands.live()

    def add(
        self, cql: str, name: str, owner: str, backfill: bool, quotas: Mapping[str, int], today: Instant
    ) -> Command:
        """Check a query against the streams and tables of the flow, and send the flow a command to add it."""
        return self._desk.add_all([cql], [name], owner, backfill, quotas, today)[0]

    def drop(self, query: str) -> Command:
        """Send the flow a command to drop a query."""
        return self._desk.drop(query)

    def metrics(self) -> ReportedMetrics | None:
        """The metrics of the last batch; None before the first."""
        reports = self._checkpoint.reports()
        if not reports:
            return None
        return ReportedMetrics.of(flow_metrics(self._desk.definition.name, self.live, reports), done=False)


def folder_at(flowdir: str, there: bool = True) -> CatalogueFolder | CheckpointFolder:
    """The checkpoint or the catalogue in a folder; unless one must be `there`, an empty catalogue is created."""
    return CheckpointFolder(flowdir) if FlowDesk.is_at(flowdir) else CatalogueFolder(flowdir, there)
