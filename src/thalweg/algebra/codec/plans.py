"""Plans as texts. A plan keeps its text, and equal texts give one plan, for a flow meets each plan in many places."""

from __future__ import annotations

import json
from typing import NamedTuple
from weakref import WeakValueDictionary

from thalweg.algebra.codec.functions import Functions
from thalweg.algebra.codec.values import Json, Reading, Writing
from thalweg.algebra.plan import Plan
from thalweg.core.errors import CheckpointError

_KEPT = "<written>"  # no attribute has such a name
_read: WeakValueDictionary[str, Plan] = WeakValueDictionary()  # those that call no function of users


class Written(NamedTuple):
    """The text of a plan, and the names of users' functions and aggregates that it calls."""

    text: str
    calls: tuple[str, ...]


def written(plan: Plan) -> Written:
    """A plan as a text: compact JSON, equal for equal plans but for what takes no part in equality."""
    kept: Written | None = vars(plan).get(_KEPT)
    if kept is None:
        writing = Writing()
        text = compact(writing.value(plan))
        kept = vars(plan)[_KEPT] = Written(text, tuple(sorted(writing.calls)))
    return kept


def read_plan(text: str, functions: Functions) -> Plan:
    """What `written` gave; a CheckpointError says what cannot be read."""
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
