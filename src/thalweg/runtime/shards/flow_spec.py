"""What all tasks of a flow know, and where its queries run."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pickle import loads
from typing import Any

from thalweg.algebra.plan import Plan
from thalweg.core.schema import Schema
from thalweg.flows.pickles import pickled
from thalweg.flows.standing import Standing
from thalweg.operators.base import Key
from thalweg.planner.choice import choose
from thalweg.planner.shards import EVERYWHERE, cut
from thalweg.runtime.shards.clock import InputTime
from thalweg.runtime.shards.layouts import Layouts


@dataclass(frozen=True)
class FlowPort:
    """A way in: a stream spread by its key over all groups, or as a whole in group 0; a table is copied everywhere."""

    source: str
    schema: Schema
    key: Key | None
    whole: bool = False


@dataclass(frozen=True)
class FlowSpec:
    """Everything about a flow that its tasks need to know; its queries they learn from commands."""

    ports: tuple[FlowPort, ...]
    layouts: Layouts
    inputs: dict[str, InputTime]  # by stream
    stamped: bool
    tables: dict[str, str] = field(default_factory=dict)  # by table: the file with what it held when the flow began
    table_schemas: dict[str, Schema] = field(default_factory=dict)
    stages: int = 1

    @property
    def shards(self) -> int:
        """In how many shards the batches to come are run."""
        return self.layouts.last.shards

    @property
    def groups(self) -> int:
        """Over how many groups keys are spread."""
        return self.layouts.groups


@dataclass(frozen=True)
class Command:
    """Add a query to a flow (with what it asks), drop or suspend one. Commands are obeyed in order of their numbers."""

    number: int
    id: str
    adds: Standing | None
    whole: bool = False  # the query must see all tuples in one place
    suspends: str | None = None  # why it runs nowhere any more: it has failed somewhere

    @cached_property
    def text(self) -> str:
        """One line of JSON."""
        plan = None if self.adds is None else b64encode(pickled(self.adds)).decode()
        told = {"number": self.number, "id": self.id, "adds": plan, "whole": self.whole, "why": self.suspends}
        return json.dumps(told)

    @staticmethod
    def read(text: str | bytes) -> Command:
        """What `text` gave; it comes from the flow's own checkpoint."""
        told: dict[str, Any] = json.loads(text)
        adds = None if told["adds"] is None else loads(b64decode(told["adds"]))
        return Command(int(told["number"]), told["id"], adds, bool(told["whole"]), told["why"])


def needs_all(plan: Plan, spread: Mapping[str, Key | None], tables: Mapping[str, object]) -> bool:
    """Whether a query must see its tuples in one place: groups by the flow's keys could not answer it each for itself.

    They can if what the query's operators must see together has equal values of the flow's keys.
    """
    pipeline = choose(plan, in_shards=True).blueprint.build()
    parts = cut(pipeline, tables)
    if len(parts.stages) > 1 or any(port.origin is not None for port in parts.ports):
        return True
    for port in parts.ports:
        key, mine = port.key, spread.get(pipeline.nodes[port.node].source)
        if key is None or key is EVERYWHERE:
            continue
        if mine is None or not mine or not all(part in key for part in mine):
            return True
    return False
