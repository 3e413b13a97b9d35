"""What the queries of a flow in shards do, from what its shards have put down after a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from thalweg.core.time import Clock
from thalweg.flows.command import Command
from thalweg.flows.metrics import QueryMetrics

RUNNING, WAITING, SUSPENDED = "running", "waiting", "suspended"

About = Mapping[str, Any]  # of a shard


def states(live: Mapping[str, Command], abouts: Sequence[About]) -> dict[str, tuple[str, str | None]]:
    """By query whether it runs, waits for the next batch, or was suspended and why."""
    obeyed = min((about["commands"] for about in abouts), default=-1)
    failed = {query: why for about in abouts for query, why in about["suspended"].items()}
    found: dict[str, tuple[str, str | None]] = {}
    for query, command in live.items():
        waits = RUNNING if command.seq <= obeyed else WAITING
        found[query] = (SUSPENDED, failed[query]) if query in failed else (waits, None)
    return found


def metrics(live: Mapping[str, Command], abouts: Sequence[About]) -> dict[str, QueryMetrics]:
    """By query what it has seen, given and cost, in all shards."""
    return {query: QueryMetrics.together(query, [about["counts"].get(query, {}) for about in abouts]) for query in live}


def top(name: str, live: Mapping[str, Command], abouts: Sequence[About]) -> dict[str, Any]:
    """What the queries of a flow have seen, given and cost, as `Flow.top` of a session tells it."""
    counted, state = metrics(live, abouts), states(live, abouts)
    work, alone = sum(m.work for m in counted.values()), sum(m.alone for m in counted.values())
    clock = Clock.TIMESTAMPS if any(about["stamped"] for about in abouts) else Clock.TICKS
    now = min((about["now"] for about in abouts), default=None)
    return {
        "flow": name,
        "now": None if now is None else clock.show(now),
        "seconds": sum(m.seconds for m in counted.values()),
        "work": work,
        "saved": 1 - work / alone if alone else 0.0,
        "held": sum(about["stored"] for about in abouts),
        "queries": [
            {"id": query, "name": command.name, "owner": command.owner, "state": state[query][0]}
            | {"reason": state[query][1], **counted[query].shown()}
            for query, command in live.items()
        ],
    }
