"""Backends run the queries of a flow together. `CommonPlansBackend` runs any query, others the ones they suit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from thalweg.algebra.codec import Functions, compact, from_json, to_json
from thalweg.algebra.plan import Plan
from thalweg.core.batch import Batch, Dates
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.flows.common_plans import Cohort, Gained, SharedPipeline, Usage
from thalweg.flows.texts import Texts
from thalweg.kernel.pipeline.blueprint import Blueprint, choose
from thalweg.kernel.pipeline.plan_properties import needs_dates
from thalweg.kernel.state.snapshot import Tree


class Backend(Protocol):
    """Runs some queries of a flow. The same calls give the same results in every process.

    Strings are codes of the flow's pool, which is restored before the backends.
    """

    @property
    def total(self) -> Usage:
        """What all queries have cost, dropped ones included."""

    def takes(self, plan: Plan, cohort: Cohort) -> bool:
        """Whether this backend can run the plan, starting as its cohort says."""

    def add(self, query: str, plan: Plan, cohort: Cohort) -> None:
        """Run a query from the next batch on: first over what its cohort may see, then over every feed."""

    def drop(self, query: str) -> None:
        """End a query; the others go on."""

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> Gained:
        """The changes of answers, given the feeds up to and at `now`; an error of one query harms no other."""

    def usage(self, query: str) -> Usage:
        """What a query has cost since it was added."""

    def stored(self, query: str) -> int:
        """How many tuples are stored for a query, shared ones included."""

    def operators(self, query: str) -> list[tuple[str, int]]:
        """The operators of a query, inputs first, each with the number of queries that share it."""

    def snapshot(self) -> Tree:
        """The state between two batches."""

    def restore(self, tree: Tree, plans: Mapping[str, Plan], functions: Functions) -> None:
        """Go on from a snapshot, given the plans in order of addition, and the users' functions they may call."""


class CommonPlansBackend:
    """Optimises each plan, then runs equal sub-plans once. Plans that need dates share a pipeline of their own."""

    def __init__(self, pool: StringPool, tables: Mapping[str, object]) -> None:
        """`tables` has the names of the tables that are known so far."""
        self._pool, self._tables = pool, tables
        self._pipelines = [SharedPipeline(pool, dated) for dated in (False, True)]
        self._blueprints: dict[str, Blueprint] = {}
        self._texts = Texts(_written)

    @property
    def total(self) -> Usage:
        """What all queries have cost."""
        return self._pipelines[0].total + self._pipelines[1].total

    def parts_with_codes(self) -> list[object]:
        """The pipelines, not the blueprints of queries (see `kernel/state/marking.py`)."""
        return list(self._pipelines)

    def takes(self, plan: Plan, cohort: Cohort) -> bool:
        """Any plan."""
        return True

    def add(self, query: str, plan: Plan, cohort: Cohort) -> None:
        """Choose how to run a query, and run it."""
        blueprint = choose(plan).blueprint
        pipeline = self._pipelines[needs_dates(blueprint.plan)]
        pipeline.add(query, blueprint, replace(cohort, feeds=self._dated(pipeline, cohort.feeds)))
        self._blueprints[query] = blueprint
        self._texts.put(query, blueprint)

    def drop(self, query: str) -> None:
        """End a query."""
        self._of(query).drop(query)
        del self._blueprints[query]
        self._texts.drop(query)

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> Gained:
        """One batch through both pipelines."""
        together = Gained({}, {})
        for pipeline in self._pipelines:
            gained = pipeline.process(self._dated(pipeline, feeds) if len(pipeline) else {}, now)
            together.gains.update({query: replace(batch, dates=None) for query, batch in gained.gains.items()})
            together.errors.update(gained.errors)
        return together

    def usage(self, query: str) -> Usage:
        """What a query has cost since it was added."""
        return self._of(query).usage(query)

    def stored(self, query: str) -> int:
        """How many tuples its operators store."""
        return self._of(query).stored(query)

    def operators(self, query: str) -> list[tuple[str, int]]:
        """Its operators, each with the number of queries that share it."""
        return self._of(query).operators(query)

    def snapshot(self) -> Tree:
        """Both pipelines, and the blueprints of their queries."""
        return {
            "pipelines": [pipeline.snapshot() for pipeline in self._pipelines],
            "blueprints": self._texts.snapshot(),
        }

    def restore(self, tree: Tree, plans: Mapping[str, Plan], functions: Functions) -> None:
        """Build the pipelines from the blueprints, and go on."""
        self._pipelines = [SharedPipeline(self._pool, dated) for dated in (False, True)]
        self._blueprints = self._texts.restore(tree["blueprints"], lambda text: from_json(json.loads(text), functions))
        for pipeline, state in zip(self._pipelines, tree["pipelines"], strict=True):
            pipeline.restore(state, self._blueprints)

    def _of(self, query: str) -> SharedPipeline:
        return self._pipelines[query in self._pipelines[1]]

    def _dated(self, pipeline: SharedPipeline, feeds: Mapping[str, Batch]) -> dict[str, Batch]:
        """The feeds, with dates if the pipeline needs them."""
        if not pipeline.dated:
            return dict(feeds)
        return {name: replace(batch, dates=self._dates(name, batch)) for name, batch in feeds.items()}

    def _dates(self, name: str, batch: Batch) -> Dates:
        ts = np.full(len(batch), BEGINNING) if name in self._tables else batch.start
        return Dates(ts, np.full(len(batch), FOREVER))


def _written(blueprint: Blueprint) -> str:
    return compact(to_json(blueprint))
