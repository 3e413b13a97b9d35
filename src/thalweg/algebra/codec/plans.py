"""Plans as JSON texts, and catalogues as JSON.

Texts are cached in plans, and plans by text, for a flow reads and writes the same plan often.
"""

from __future__ import annotations

import json
from typing import NamedTuple
from weakref import WeakValueDictionary

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.codec.functions import Functions, declaration, declared_aggregate, declared_function
from thalweg.algebra.codec.values import Json, Reading, Writing, from_json, to_json
from thalweg.algebra.plan import Plan
from thalweg.core.errors import CheckpointError

_KEPT = "<written>"  # where a plan caches its text; no real attribute has such a name
_read: WeakValueDictionary[str, Plan] = WeakValueDictionary()  # plans that call no users' functions, by text


class Written(NamedTuple):
    """The text of a plan, and the names of the users' functions and aggregates that it calls."""

    text: str
    calls: tuple[str, ...]


def written(plan: Plan) -> Written:
    """A plan as compact JSON; equal plans have equal texts, but for names that take no part in equality."""
    kept: Written | None = vars(plan).get(_KEPT)
    if kept is None:
        writing = Writing()
        text = compact(writing.value(plan))
        kept = vars(plan)[_KEPT] = Written(text, tuple(sorted(writing.calls)))
    return kept


def read_plan(text: str, functions: Functions) -> Plan:
    """The plan that `written` wrote; a CheckpointError if it cannot be read."""
    plan = _read.get(text)
    if plan is None:
        reading = Reading(functions)
        plan = reading.value(json.loads(text))
        if not isinstance(plan, Plan):
            raise CheckpointError(f"expected a plan, got {text[:80]}", hint="restore the checkpoint from a backup")
        if not reading.calls:
            vars(plan)[_KEPT] = Written(text, ())
            _read[text] = plan
    return plan


def compact(tree: Json) -> str:
    """JSON without blanks."""
    return json.dumps(tree, separators=(",", ":"))


def catalog_tree(catalog: Catalog) -> Json:
    """A catalogue as JSON, without the code of users' functions."""
    return {
        "entries": [to_json(entry) for entry in catalog.entries],
        "functions": [declaration(function) for function in catalog.functions],
        "aggregates": [declaration(aggregate) for aggregate in catalog.aggregates],
    }


def read_catalog(tree: Json) -> Catalog:
    """The catalogue that `catalog_tree` wrote: queries compile with it, but users' functions raise if called."""
    catalog = Catalog()
    for given in tree["functions"]:
        catalog.add_function(declared_function(given))
    for given in tree["aggregates"]:
        catalog.add_aggregate(declared_aggregate(given))
    functions = Functions.of([*catalog.functions, *catalog.aggregates])
    for entry in tree["entries"]:
        catalog.add(from_json(entry, functions))
    return catalog
