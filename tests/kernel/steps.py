"""Histories cut into steps, and pipelines that are taken through them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from kernel.operators.feeds import Signed, from_batch, to_batch
from thalweg.algebra.plan import Plan
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.pipeline import Pipeline
from thalweg.reference.history import History

Event = tuple[Instant, str, Signed]
Output = Counter[Signed]


class Step(NamedTuple):
    """The tuples of each source, then the clock stands at `now`."""

    now: Instant
    feeds: dict[str, list[Signed]]


def steps(plan: Plan, history: History, size: int, afterwards: Instant) -> list[Step]:
    """All that happens, `size` tuples at a time, and then silence."""
    names = {leaf.source.name for leaf in plan.walk() if hasattr(leaf, "source")}
    events = sorted((e for name in sorted(names) for e in _events(name, history)), key=lambda e: e[0])
    cut = [_step(events[i : i + size]) for i in range(0, len(events), size)]
    last = cut[-1].now if cut else 0
    return [*cut, Step(last, {}), Step(last + 1, {}), Step(last + afterwards, {})]


def _events(name: str, history: History) -> Iterator[Event]:
    for arrival in history.stream(name):
        yield arrival.ts, name, Signed(arrival.row, arrival.ts, FOREVER, 1, arrival.ts, FOREVER)
    for update in history.updates(name):
        yield update.t, name, Signed(update.row, update.t, FOREVER, update.sign, BEGINNING, FOREVER)


def _step(events: list[Event]) -> Step:
    feeds: dict[str, list[Signed]] = {}
    for _, name, signed in events:
        feeds.setdefault(name, []).append(signed)
    return Step(events[-1][0], feeds)


def take(pipeline: Pipeline, step: Step) -> Output:
    """What the answer gains in a step, as a bag; strings go through the pipeline's own pool."""
    pipeline.forget_strings()
    schemas = {node.source: node.schema for node in pipeline.nodes if node.operator is None}
    feeds = {
        name: to_batch(tuples, schemas[name], pipeline.pool, pipeline.dated) for name, tuples in step.feeds.items()
    }
    return Counter(from_batch(pipeline.process(feeds, step.now), pipeline.schema, pipeline.pool, pipeline.dated))
