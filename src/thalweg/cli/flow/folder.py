"""The folder of a flow: a catalogue of its own, or the checkpoint of a flow that runs on Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from thalweg.core.time import Instant
from thalweg.cql import check_syntax
from thalweg.flows.catalog import Catalogue
from thalweg.flows.command import Command
from thalweg.runtime.distributed.checkpoint.flow_desk import FlowDesk
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.report import flow_top

METRICS = "metrics.json"


class CatalogueFolder:
    """A catalogue, and beside it the report of the flow that ran last."""

    def __init__(self, folder: str, there: bool) -> None:
        self._folder = Path(folder)
        self._catalogue = Catalogue.there(folder) if there else Catalogue(folder)

    @property
    def live(self) -> dict[str, Command]:
        """The queries that stand, by id."""
        return self._catalogue.live

    def add(
        self, cql: str, name: str, owner: str, backfill: bool, quotas: Mapping[str, int], today: Instant
    ) -> Command:
        """Take down that a query is to run; whether it fits is seen when the flow runs."""
        check_syntax(cql)
        return self._catalogue.add(cql, name, owner, backfill, dict(quotas), today)

    def drop(self, query: str) -> Command:
        """Take down that a query is not to run any more."""
        return self._catalogue.drop(query)

    def report(self) -> dict[str, Any] | None:
        """The flow's last report; None if it has never run."""
        path = self._folder / METRICS
        if not path.exists():
            return None
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return report


class CheckpointFolder:
    """A checkpoint: commands are handed in there, and shards put down what they have done."""

    def __init__(self, folder: str) -> None:
        self._desk, self._checkpoint = FlowDesk.at(folder), Checkpoint.at(folder)

    @property
    def live(self) -> dict[str, Command]:
        """The queries that stand, by id."""
        return self._desk.commands.live()

    def add(
        self, cql: str, name: str, owner: str, backfill: bool, quotas: Mapping[str, int], today: Instant
    ) -> Command:
        """Hand in a query, if it fits the streams and tables of the flow."""
        return self._desk.add_all([cql], [name], owner, backfill, quotas, today)[0]

    def drop(self, query: str) -> Command:
        """Hand in that a query is to end."""
        return self._desk.drop(query)

    def report(self) -> dict[str, Any] | None:
        """What the shards have done up to the last batch; None before the first."""
        reports = self._checkpoint.reports()
        if not reports:
            return None
        return {**flow_top(self._desk.definition.name, self.live, reports), "done": False}


def folder_at(flowdir: str, there: bool = True) -> CatalogueFolder | CheckpointFolder:
    """What lies in a folder; unless something must be `there`, a catalogue is begun."""
    return CheckpointFolder(flowdir) if FlowDesk.is_at(flowdir) else CatalogueFolder(flowdir, there)
