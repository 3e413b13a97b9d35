"""Would catch a plan that a checkpoint gives back as another one, a class without a name, or a text that runs code."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, cast

import pytest
from hypothesis import given

import thalweg as tw
from strategies.aggregates import USER_AGGREGATES
from strategies.effort import examples
from strategies.plans import plans
from thalweg.algebra.catalog import Catalog, Stream
from thalweg.algebra.codec import (
    NO_FUNCTIONS,
    Functions,
    catalog_tree,
    digest,
    from_json,
    names,
    read_catalog,
    read_plan,
    register,
    to_json,
    written,
)
from thalweg.algebra.expressions import Literal, UserAggregate
from thalweg.algebra.plan import Plan, PlanNode
from thalweg.algebra.statistics import SourceStatistics
from thalweg.algebra.windows import BaseWindow
from thalweg.core.errors import CheckpointError, UserFunctionError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.cql import compile_query, compile_script
from thalweg.cql import register as register_function
from thalweg.kernel.pipeline import Settings

KNOWN = Functions.of(USER_AGGREGATES)


@tw.function(returns=bool, takes=(int, float))
def near(a: int, b: float) -> bool:
    return abs(a - b) < 1


@tw.aggregate(returns=float, takes=float)
class Steps:
    def zero(self) -> float:
        return 0.0

    def insert(self, state: float, value: float) -> float:
        return state + value

    def delete(self, state: float, value: float) -> float:
        return state - value

    def value(self, state: float) -> float:
        return state


steps = cast(UserAggregate, Steps)  # to type checkers a decorated class is still a class


def desk() -> Catalog:
    """A catalogue with a stream, tables, a view that calls a function, and functions."""
    catalog = Catalog()
    register_function(catalog, near)
    register_function(catalog, steps)
    compile_script(
        "CREATE STREAM s (ts TIMESTAMP, k INT, v DOUBLE) TIMESTAMP BY ts LATENESS 5 SECONDS;"
        "CREATE RELATION r (k INT PRIMARY KEY, name STRING);"
        "CREATE VIEW close AS SELECT k, v FROM s [RANGE 1 MINUTE] WHERE near(k, v);",
        catalog,
    )
    known = SourceStatistics(2.5, None, {"k": 4, "v": 9})
    catalog.replace(Stream("t", Schema.of(k=DataType.BIGINT), statistics=known))
    return catalog


@examples(100)
@given(plan=plans())
def test_a_plan_comes_back_as_it_was(plan: Plan) -> None:
    text = written(plan).text
    found = from_json(json.loads(text), KNOWN)
    assert found == plan and repr(found) == repr(plan) and digest(found) == digest(plan)
    assert written(found) == written(plan)
    assert read_plan(text, KNOWN) == plan
    rebuilt = plan.with_children(*plan.children) if plan.children else plan
    assert written(rebuilt).text == text, "an equal plan has an equal text"


def subclasses(of: type[Any]) -> set[type[Any]]:
    return {of, *(each for below in of.__subclasses__() for each in subclasses(below))}


def test_every_operator_and_window_has_a_name() -> None:
    concrete = {cls for base in (PlanNode, BaseWindow) for cls in subclasses(base) if not cls.__abstractmethods__}
    ours = {cls for cls in concrete if cls.__module__.startswith("thalweg.") and not cls.__name__.startswith("_")}
    assert ours - set(names().values()) == set()


def test_a_name_stands_for_one_class_and_a_class_has_one_name() -> None:
    assert len(set(names().values())) == len(names())
    assert all(is_dataclass(cls) or issubclass(cls, Enum) for cls in names().values())
    with pytest.raises(TypeError, match="the name is taken"):
        register("select", Stream)
    with pytest.raises(TypeError, match="the name is taken"):
        register("map", Stream)


def test_all_that_is_in_a_named_class_is_read_by_its_constructor() -> None:
    for cls in names().values():
        if is_dataclass(cls):
            assert all(field.init for field in fields(cls)), cls


@pytest.mark.parametrize("value", [0, -0.0, 1.0, 1, True, None, "a\ud800\n'", 2**63 - 1, float("inf"), -1e300])
def test_values_keep_their_types(value: Any) -> None:
    literal = Literal(value, DataType.DOUBLE)
    found = from_json(json.loads(json.dumps(to_json(literal), allow_nan=False)))
    assert found == literal and repr(found) == repr(literal)


def test_settings_come_back() -> None:
    asked = Settings(order=(2, 0, 1), drift=float("inf"), reevaluate=0, in_parts=None)
    assert from_json(json.loads(json.dumps(to_json(asked)))) == asked


def test_a_catalogue_comes_back() -> None:
    catalog = desk()
    tree = json.loads(json.dumps(catalog_tree(catalog)))
    found = read_catalog(tree)
    assert catalog_tree(found) == tree
    assert found.entries == catalog.entries
    assert [s.statistics for s in found.streams] == [s.statistics for s in catalog.streams]
    for cql in ("SELECT k, STEPS(v) AS n FROM close GROUP BY k", "SELECT s.k, r.name FROM s JOIN r ON s.k = r.k"):
        plan = compile_query(cql, catalog)
        declared = compile_query(cql, found)
        assert written(declared) == written(plan)
        assert repr(read_plan(written(declared).text, Functions.of([near, steps]))) == repr(plan)


def test_a_declared_function_is_not_run() -> None:
    found = read_catalog(catalog_tree(desk()))
    function, aggregate = found.function("near"), found.aggregate("steps")
    assert function is not None and aggregate is not None and aggregate.is_incremental
    with pytest.raises(UserFunctionError, match="NEAR is only declared here"):
        function.of_values(1, 2.0)
    with pytest.raises(UserFunctionError, match="STEPS is only declared here"):
        aggregate.zero()
    assert aggregate.over_nothing is None


def test_a_function_that_is_not_known_is_named() -> None:
    text = written(compile_query("SELECT k FROM s WHERE near(k, v)", desk())).text
    with pytest.raises(CheckpointError, match="calls the function NEAR, which is not registered here") as error:
        read_plan(text, NO_FUNCTIONS)
    assert "register it" in str(error.value.hint)
    other = tw.function(returns=bool, takes=(float, float), name="near")(lambda a, b: True)
    with pytest.raises(CheckpointError, match=r"as \(BIGINT, DOUBLE\): BOOLEAN, .* is \(DOUBLE, DOUBLE\): BOOLEAN"):
        read_plan(text, Functions.of([other]))
    text = written(compile_query("SELECT STEPS(v) AS n FROM s", desk())).text
    with pytest.raises(CheckpointError, match="calls the aggregate STEPS, which is not registered here"):
        read_plan(text, NO_FUNCTIONS)
    assert read_plan(text, Functions.of([steps])) == compile_query("SELECT STEPS(v) AS n FROM s", desk())


def test_a_text_names_what_it_calls() -> None:
    assert written(compile_query("SELECT STEPS(v) AS n FROM close", desk())).calls == ("Steps", "near")
    assert written(compile_query("SELECT v FROM s", desk())).calls == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"telepathy":{"child":1}}', "a part called 'telepathy', which this version of Thalweg does not know"),
        ('{"distinct":{}}', "'distinct' of the checkpoint lacks child"),
        ('{"range":{"width":5,"hue":"red"}}', "'range' of the checkpoint has hue, which this version"),
        ('{"range":{"width":5},"rows":{"count":5}}', "expected an object with one name, got range, rows"),
        ('{"type":{"a":1}}', "'type' of the checkpoint is one of a few values"),
        ('{"type":"COMPLEX"}', "'type' of the checkpoint cannot be 'COMPLEX'"),
        ('{"range":5}', "'range' of the checkpoint cannot be 5"),
        ('{"range":{"width":5}}', "expected a plan"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, message: str) -> None:
    with pytest.raises(CheckpointError, match=message) as error:
        read_plan(text, NO_FUNCTIONS)
    assert error.value.hint


def test_a_field_with_a_default_may_be_missing() -> None:
    assert from_json({"range": {"width": 5}}).slide == 1


@dataclass(frozen=True)
class Unnamed:
    a: int


def test_a_class_without_a_name_is_not_written() -> None:
    with pytest.raises(TypeError, match="Unnamed has no name in JSON"):
        to_json(Unnamed(1))
    with pytest.raises(TypeError, match="Unnamed has no name in JSON"):
        digest(Unnamed(1))


def test_the_text_of_a_plan_is_kept_beside_it() -> None:
    plan = compile_query("SELECT v FROM s", desk())
    before = repr(plan), pickle.dumps(plan)
    assert written(plan) is written(plan)
    assert (repr(plan), pickle.dumps(plan)) == before
    with pytest.raises(FrozenInstanceError):
        plan.child = plan  # type: ignore[misc, union-attr]
