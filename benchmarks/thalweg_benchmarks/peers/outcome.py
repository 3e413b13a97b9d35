"""The outcome of one peer on one query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from thalweg_benchmarks.peers.answers import Difference

PeerVerdict = Literal["right", "wrong", "cannot express", "not here", "failed"]


@dataclass(frozen=True)
class PeerOutcome:
    """One cell of the table. Times are None unless the rows were right: the time of a wrong answer means nothing."""

    query: str
    peer: str
    verdict: PeerVerdict
    why: str = ""
    lines: int | None = None
    difference: Difference | None = None
    rows: int | None = None
    rows_per_s: float | None = None
    rows_per_cpu_s: float | None = None  # by processor time of all cores, which other users of the machine disturb less
    startup_s: float | None = None
    peak_mb: float | None = None
    latency_ms: float | None = None

    def known(self, **more: Any) -> PeerOutcome:
        """This outcome with more fields set."""
        return replace(self, **more)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {"query": self.query, "peer": self.peer, "verdict": self.verdict, "why": self.why}
        found["lines"] = self.lines
        if self.difference is not None:
            found["expected"], found["missing"] = self.difference.expected, self.difference.missing
            found["extra"], found["examples"] = self.difference.extra, list(self.difference.examples)
        found["rows"] = self.rows
        for name in ("rows_per_s", "rows_per_cpu_s", "startup_s", "peak_mb", "latency_ms"):
            value = getattr(self, name)
            found[name] = None if value is None else round(value, 1)
        return found
