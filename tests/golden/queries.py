"""Golden checkpoints of single queries in shards: written batch by batch to the files of a simulated cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from golden.archive import Case
from golden.functions import FUNCTIONS, KNOWN
from golden.happenings import SECOND, Event, bag_rows, batches, drawn, history, larger, read_events
from golden.shown import Shown, compare, right_answers
from runtime.distributed.cluster import Cluster, TimedRow
from thalweg.algebra.catalog import Catalog, Relation
from thalweg.algebra.codec import catalog_tree, digest, from_json, read_catalog, to_json
from thalweg.algebra.plan import Plan, flatten
from thalweg.core.schema import Schema
from thalweg.core.time import Clock, Instant
from thalweg.core.types import DataType
from thalweg.cql import compile_query, compile_script, register
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.patterns import check
from thalweg.runtime.distributed.ingest.clock import InputTime

AFTERWARDS = 40  # ticks: windows that time empties have emptied


@dataclass(frozen=True)
class QueryCase:
    """A query, and how it runs. Without `advances` its clock is that of the slowest stream, so that tuples wait."""

    name: str
    cql: str
    script: str
    strategy: str = "auto"
    settings: Settings = field(default_factory=Settings)
    copied: tuple[str, ...] = ()
    advances: bool = True
    is_flat: bool = False  # trees of joins as multi-way joins


def catalog_of(script: str) -> Catalog:
    """The streams and tables of a script, two tables without keys, and all functions."""
    catalog = Catalog()
    for function in FUNCTIONS:
        register(catalog, function)
    compile_script(script, catalog)
    catalog.add(Relation("b", Schema.of(k=DataType.BIGINT, w=DataType.BIGINT)))
    catalog.add(Relation("m", Schema.of(k=DataType.BIGINT, w=DataType.BIGINT), retroactive=False))
    return catalog


def planned(cql: str, catalog: Catalog, is_flat: bool) -> Plan:
    """The plan of a query, which must be one that can run."""
    plan = compile_query(cql, catalog)
    check(plan)
    return flatten(plan) if is_flat else plan


def sources_of(plan: Plan) -> set[str]:
    """The streams and tables that a plan reads."""
    return {leaf.source.name for leaf in plan.walk() if hasattr(leaf, "source")}


def described(asked: QueryCase, catalog: Catalog, plan: Plan, seed: str, size: int = 5) -> Case:
    """What a golden file says of a query: all that is needed to go on, in JSON."""
    tick = SECOND if plan.clock is Clock.TIMESTAMPS else 1
    cut = batches(drawn(catalog, sources_of(plan), 90, seed, tick), size)
    middle = len(cut) * 3 // 5
    return {
        "name": asked.name,
        "cql": asked.cql,
        "catalog": catalog_tree(catalog),
        "blueprint": to_json(Blueprint(plan, Strategy(asked.strategy), asked.settings)),
        "digest": digest(plan),
        "is_flat": asked.is_flat,
        "copied": asked.copied,
        "advances": asked.advances,
        "shards": 2,
        "groups": 2,
        "before": cut[:middle],
        "after": larger(cut[middle:], 3),
        "end": cut[-1][-1].t + AFTERWARDS * tick,
    }


def write(asked: QueryCase, folder: Path) -> Case:
    """Run a query up to the checkpoint."""
    catalog = catalog_of(asked.script)
    plan = planned(asked.cql, catalog, asked.is_flat)
    case = described(asked, catalog, plan, asked.name)
    cluster = _cluster(case, folder, [])
    for events in case["before"]:
        _feed(cluster, events, asked.advances)
    past = history(catalog, _all_events(case))
    right = right_answers(plan, past, cluster.now, case["end"])
    return case | {
        "of": "query",
        "batches": cluster.batches,
        "now": cluster.now,
        "shown": _shown(cluster).intervals,
        "answers": [[t, bag_rows(bag)] for t, bag in right.items()],
    }


def go_on(case: Case, folder: Path) -> None:
    """Restore a checkpoint, go on, and compare the answer at every instant from then on."""
    catalog = read_catalog(case["catalog"])
    cluster = _cluster(case, folder, case["shown"])
    cluster.batches = case["batches"]
    assert cluster.now == case["now"]
    for events in case["after"]:
        _feed(cluster, read_events(events), case["advances"])
    cluster.batch({}, case["end"])
    plan = from_json(case["blueprint"], KNOWN).plan
    past = history(catalog, _all_events(case))
    right = right_answers(plan, past, case["now"], case["end"])
    compare(_shown(cluster), right, case["answers"])


def _all_events(case: Case) -> list[Event]:
    return read_events([event for part in (case["before"], case["after"]) for events in part for event in events])


def _cluster(case: Case, folder: Path, shown: Sequence[Any]) -> Cluster:
    catalog, blueprint = read_catalog(case["catalog"]), from_json(case["blueprint"], KNOWN)
    names = sources_of(blueprint.plan)
    inputs = {s.name: InputTime(s.lateness or 0) for s in catalog.streams if s.name in names}
    keys = {r.name: r.key for r in catalog.relations}
    stamped = blueprint.plan.clock is Clock.TIMESTAMPS
    groups, copied = case["groups"], case["copied"]
    cluster = Cluster(blueprint, case["shards"], folder, inputs, keys, stamped, False, groups, copied)
    cluster.log = Shown(cluster.schema, before=shown)  # type: ignore[assignment]
    return cluster


def _shown(cluster: Cluster) -> Shown:
    assert isinstance(cluster.log, Shown)
    return cluster.log


def _feed(cluster: Cluster, events: Sequence[Event], advances: bool) -> None:
    by_source: defaultdict[str, list[TimedRow]] = defaultdict(list)
    for t, source, sign, row in events:
        by_source[source].append((t, sign, row))
    last: Instant | None = events[-1].t if advances else None
    cluster.batch({name: [rows] for name, rows in by_source.items()}, last)
