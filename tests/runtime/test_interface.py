"""Would catch an engine, query or flow that gains, loses or renames a method or an argument without the others.

No Spark is started: only signatures are compared.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any

import pytest

from thalweg.runtime import interface
from thalweg.runtime.local import LocalFlow, LocalQuery, Session
from thalweg.runtime.local.flow_query import LocalFlowQuery
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.flow import SparkFlow
from thalweg.runtime.spark.api.flow_run import SparkFlowQuery
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.api.query_run import SparkQueryRun

IMPLEMENTED = {
    interface.EngineProtocol: (Session, Engine),
    interface.QueryProtocol: (LocalQuery, SparkQuery, SparkQueryRun),
    interface.FlowProtocol: (LocalFlow, SparkFlow),
    interface.FlowQueryProtocol: (LocalFlowQuery, SparkFlowQuery),
}
PAIRS = [(protocol, made) for protocol, all_ in IMPLEMENTED.items() for made in all_]

_TIME = "in this process the session moves time for all its queries; on Spark each run has its own"
_SPARK = "Spark decides when to run a batch, so a query is started, waited for and stopped"
_LOCAL = "for comparisons of strategies that only run in this process"

# Methods and properties that only one engine has, and why.
OWN_METHODS: dict[type, dict[str, str]] = {
    Session: {
        **dict.fromkeys(("push", "late"), "rows come from the caller, not from DataFrames"),
        **dict.fromkeys(("insert", "delete", "update"), "tables are changed by the caller, not by DataFrames"),
        **dict.fromkeys(("advance", "now"), _TIME),
    },
    Engine: {
        **dict.fromkeys(("stream", "relation"), "declare DataFrames; a session declares with CREATE statements"),
        "sample": "statistics are measured on a DataFrame",
        **dict.fromkeys(("spark", "shards", "groups"), "where and in how many parts queries run"),
    },
    LocalQuery: {
        **dict.fromkeys(("arrive", "table_changed", "happened"), "called by the session"),
        "clock_now": "the clock in ticks, for the session",
        "info": "for `Session.queries`",
        "optimized": "the chosen plan, for tools",
        **dict.fromkeys(("delay", "heartbeat"), _LOCAL),
    },
    SparkQuery: {
        **dict.fromkeys(("start", "run", "is_active"), _SPARK),
        **dict.fromkeys(("change_stream", "writer_options"), "changes for any of Spark's own sinks"),
        **dict.fromkeys(("streams", "tables", "spark"), "the query's DataFrames, for tools"),
        "info": "for `Engine.queries`",
    },
    SparkQueryRun: {
        **dict.fromkeys(("wait", "wait_until_done", "stop", "is_active", "query"), _SPARK),
        **dict.fromkeys(("advance", "drain", "latest", "instant", "clock_now"), _TIME),
        **dict.fromkeys(("late", "bad_rows"), "each query on Spark reads its streams by itself; a session reads once"),
        **dict.fromkeys(("checkpoint", "layouts"), "where the state lies, and in how many shards"),
        "rejected": "only sinks on Spark can reject a row",
        **dict.fromkeys(("statistics", "seen"), "measured by a run, for the next start"),
    },
    LocalFlow: {
        **dict.fromkeys(("refresh", "lies_in"), "its folder is a log of commands that other processes may write"),
        "run": "for the session",
    },
    SparkFlow: {
        **dict.fromkeys(("start", "started", "checkpoint"), _SPARK),
        "take_over": "the queries of a local flow's folder",
        "clock": "of its streams",
    },
    LocalFlowQuery: {
        "gain": "called by the flow",
        "log_keys": "read by the flow, which forgets strings that no query's output names",
        "since": "the clock when the query was added, in ticks",
    },
    SparkFlowQuery: {},
}

# Options that only one engine has: all keyword-only.
OWN_OPTIONS: dict[tuple[type, str], set[str]] = {
    (Session, "flow"): {"folder"},  # only the queries are kept there
    (Engine, "flow"): {"checkpoint", "streams", "tables", "keys", "shards", "sees_all", "heartbeat"},
    (Engine, "query"): {"shards", "groups", "heartbeat"},
}

# Arguments with a default that may be given by place, because they are what the call is about.
POSITIONAL = ("at", "timeout", "name", "accept", "df")

# Types that depend on where a query runs, as the interface calls them.
_MEDIUM = {
    "list[tuple[Any, int, tuple[Any, ...]]]": "Changes_co",
    "list[tuple[Any, ...]]": "Answer_co",
    "LocalFlowQuery": "FlowQueryProtocol", "SparkFlowQuery": "FlowQueryProtocol",
    "LocalQuery": "QueryProtocol", "SparkQuery": "QueryProtocol",
    "LocalFlow": "FlowProtocol", "SparkFlow": "FlowProtocol",
}  # fmt: skip


def public(kind: type) -> dict[str, Any]:
    return {name: value for base in reversed(kind.__mro__) for name, value in vars(base).items() if name[0] != "_"}


def asked(protocol: type) -> dict[str, Any]:
    """What the protocol asks for; attributes that are only declared among it."""
    return {**dict.fromkeys(getattr(protocol, "__annotations__", {})), **public(protocol)}


def attributes(kind: type) -> set[str]:
    """Attributes that an initializer sets."""
    makers = [vars(base)["__init__"] for base in kind.__mro__[:-1] if "__init__" in vars(base)]
    sources = [inspect.getsource(maker) for maker in makers]
    return {name for source in sources for name in re.findall(r"\bself\.([a-z]\w*)(?=[ ,:=])", source)}


def returned(function: Any, name: str, is_spark: bool) -> str:
    text = str(inspect.signature(function).return_annotation).replace("[Answer_co, Changes_co]", "")
    if is_spark:
        text = text.replace("DataFrame", "Changes_co" if name == "changes" else "Answer_co")
    for own, shared in _MEDIUM.items():
        text = re.sub(rf"(?<!\w){re.escape(own)}(?!\w)", shared, text)
    return text.replace("Sequence[", "list[") if name == "execute" else text


@pytest.mark.parametrize(("protocol", "made"), PAIRS, ids=lambda kind: kind.__name__)
def test_every_method_has_the_same_signature(protocol: type, made: type) -> None:
    for name, wanted in asked(protocol).items():
        found = public(made).get(name)
        if found is None or wanted is None or isinstance(wanted, property):
            assert name in attributes(made) or isinstance(found, property), f"{made.__name__} has no {name}"
        if isinstance(wanted, property) and isinstance(found, property):
            assert returned(found.fget, name, False) == returned(wanted.fget, name, False), name
        elif inspect.isfunction(wanted):
            assert inspect.isfunction(found), f"{made.__name__} has no method {name}"
            check(made, name, inspect.signature(wanted), inspect.signature(found))
            assert returned(found, name, "Spark" in made.__name__ or made is Engine) == returned(wanted, name, False)


def check(made: type, name: str, wanted: inspect.Signature, found: inspect.Signature) -> None:
    own = OWN_OPTIONS.get((made, name), set())
    assert own <= found.parameters.keys(), f"{made.__name__}.{name} has no option {own - found.parameters.keys()}"
    assert all(found.parameters[option].kind is inspect.Parameter.KEYWORD_ONLY for option in own)
    shared = [(p.name, p.kind, p.default) for p in found.parameters.values() if p.name not in own]
    assert shared == [(p.name, p.kind, p.default) for p in wanted.parameters.values()], f"{made.__name__}.{name}"
    if name != "drop":  # an engine drops queries of its own type
        types = {p.name: p.annotation for p in found.parameters.values() if p.name not in own}
        assert types == {p.name: p.annotation for p in wanted.parameters.values()}, f"{made.__name__}.{name}"


@pytest.mark.parametrize(("protocol", "made"), PAIRS, ids=lambda kind: kind.__name__)
def test_what_only_one_engine_has_is_listed_with_a_reason(protocol: type, made: type) -> None:
    more = (public(made).keys() | attributes(made)) - asked(protocol).keys()
    assert more == OWN_METHODS[made].keys()
    assert all(OWN_METHODS[made].values())


@pytest.mark.parametrize("made", [made for _, made in PAIRS], ids=lambda kind: kind.__name__)
def test_options_are_keyword_only(made: type) -> None:
    for name, method in public(made).items():
        if inspect.isfunction(method):
            given = list(inspect.signature(method).parameters.values())[1:]
            optional = [p for p in given if p.default is not p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
            assert [p.name for p in optional] in ([], *([only] for only in POSITIONAL)), f"{made.__name__}.{name}"


def typed(
    engines: tuple[Session, Engine],
    queries: tuple[LocalQuery, SparkQuery, SparkQueryRun],
    flows: tuple[LocalFlow, SparkFlow],
    of_flows: tuple[LocalFlowQuery, SparkFlowQuery],
) -> tuple[
    Sequence[interface.EngineProtocol[Any, Any]],
    Sequence[interface.QueryProtocol[Any, Any]],
    Sequence[interface.FlowProtocol[Any, Any]],
    Sequence[interface.FlowQueryProtocol[Any, Any]],
]:
    """The static half, never called: mypy refuses it if a class leaves its protocol."""
    return engines, queries, flows, of_flows
