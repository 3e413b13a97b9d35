"""What is known of one peer and one query after all runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from thalweg_benchmarks.peers.answers import Difference

Verdict = Literal["right", "wrong", "cannot express", "not here", "failed"]


@dataclass(frozen=True)
class Outcome:
    """One cell of the table; times are None where rows were not right, for the time of a wrong answer says nothing."""

    query: str
    peer: str
    verdict: Verdict
    why: str = ""
    lines: int | None = None
    difference: Difference | None = None
    rows: int | None = None
    rows_per_s: float | None = None
    rows_per_cpu_s: float | None = None  # of processor time of all cores: says more where others use the machine too
    startup_s: float | None = None
    peak_mb: float | None = None
    latency_ms: float | None = None

    def known(self, **more: Any) -> Outcome:
        """The same with more known."""
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
