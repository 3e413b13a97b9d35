"""While `thalweg flow start` runs: queries are added and dropped, and suspended ones are reported."""

from __future__ import annotations

import time
from collections.abc import Callable

from thalweg.algebra.plan import Plan, StreamScan
from thalweg.cli.flow.folder import ReportedMetrics
from thalweg.cli.inputs import Inputs
from thalweg.cli.output import console, say
from thalweg.core.errors import DataError
from thalweg.flows.query_info import QueryState
from thalweg.runtime.local.flow import LocalFlow
from thalweg.runtime.local.flow_query import LocalFlowQuery


def need_inputs(files: Inputs) -> Callable[[Plan], None]:
    """A function that refuses a query over a stream without input: its clock would hold back all other queries."""

    def accept(plan: Plan) -> None:
        for leaf in plan.walk():
            if isinstance(leaf, StreamScan) and leaf.source.name not in files.files:
                raise DataError(
                    f"the stream {leaf.source.name} has no input", hint=f"start with --input {leaf.source.name}=PATH"
                )

    return accept


class Watch:
    """Keeps the list of running queries up to date, and writes the flow's metrics."""

    seconds_between_looks = 0.5  # at the catalogue

    def __init__(
        self, flow: LocalFlow, flowdir: str, queries: list[LocalFlowQuery], accept: Callable[[Plan], None]
    ) -> None:
        self._flow, self._flowdir, self._queries, self._accept = flow, flowdir, queries, accept
        self._reported: set[str] = set()
        self._looked = 0.0

    def look_now_and_then(self) -> None:
        """Call `look` if it is time; report queries that have been suspended in any case."""
        if time.monotonic() - self._looked >= self.seconds_between_looks:
            self.look()
        else:
            self._list()

    def look(self, done: bool = False) -> None:
        """Add and drop queries as the catalogue says, and write the metrics; `done` marks the last call."""
        if not done:
            self._flow.refresh(self._accept)
        self._list()
        ReportedMetrics.of(self._flow.metrics(), done).write(self._flowdir)
        self._looked = time.monotonic()

    def _list(self) -> None:
        found = self._flow.queries()
        self._queries[:] = [self._flow.get_query(q.id) for q in found if q.state is QueryState.RUNNING]
        for query in found:
            if query.reason is not None and query.id not in self._reported:
                self._reported.add(query.id)
                say(console(stderr=True), f"{query.id} ({query.name}) is suspended: {query.reason}", "yellow")
