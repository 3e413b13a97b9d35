"""The outcomes as a table: a row for each query, a column for each peer."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from thalweg_benchmarks.peers.environments import PEERS
from thalweg_benchmarks.peers.outcome import PeerOutcome
from thalweg_benchmarks.peers.queries import QUERIES


def table(outcomes: Sequence[PeerOutcome]) -> Table:
    """Thousand rows a second, latency, start-up, memory and lines of code; or the verdict if there are no times."""
    peers = [name for name in PEERS if any(outcome.peer == name for outcome in outcomes)]
    drawn = Table("query", *(PEERS[name].title for name in peers), show_lines=True)
    for query in QUERIES:
        found = {outcome.peer: outcome for outcome in outcomes if outcome.query == query}
        if found:
            drawn.add_row(query, *(cell(found[name]) if name in found else "" for name in peers))
    return drawn


def cell(outcome: PeerOutcome) -> str:
    """The text for one peer and one query."""
    if outcome.verdict == "wrong" and outcome.difference is not None:
        found = outcome.difference
        return f"wrong: {found.missing:,} of {found.expected:,} rows missing, {found.extra:,} extra"
    if outcome.verdict != "right":
        return outcome.verdict
    if outcome.rows_per_s is None:
        return "right"
    parts = [f"{outcome.rows_per_s / 1000:,.0f} k/s"]
    parts += [] if outcome.latency_ms is None else [f"{outcome.latency_ms:,.0f} ms"]
    parts += [] if outcome.startup_s is None else [f"{outcome.startup_s:.1f} s"]
    parts += [] if outcome.peak_mb is None else [f"{outcome.peak_mb / 1024:.1f} GB"]
    parts += [] if outcome.lines is None else [f"{outcome.lines} lines"]
    return "\n".join(parts)


def notes(outcomes: Sequence[PeerOutcome]) -> list[str]:
    """A sentence for each cell that has a reason to give."""
    return [
        f"{PEERS[outcome.peer].title}, {outcome.query}: {outcome.verdict}: {outcome.why}"
        for outcome in outcomes
        if outcome.why
    ]
