"""Shapes of plans that the binder must choose itself; would catch a join condition left above, an NRR met wrongly."""

from __future__ import annotations

import pytest

from cql.catalogue import catalogue, outline, plan_of
from thalweg.algebra.plan import Negation
from thalweg.core.time import DAY
from thalweg.cql import compile_query, compile_script


@pytest.mark.parametrize(
    ("cql", "expected"),
    [
        ("SELECT * FROM s", "StreamScan[s]"),
        ("SELECT a, b, d FROM s", "StreamScan[s]"),
        ("SELECT b, a FROM s", "Project[s.b AS b, s.a AS a](StreamScan[s])"),
        (
            "SELECT p FROM big [NOW]",
            "Project[big.p AS p](Window[[NOW]](Project[s.a AS p, s.b AS q](Select[s.a > 1](StreamScan[s]))))",
        ),
        (
            "SELECT * FROM s [NOW], r [NOW] WHERE s.a = r.a AND x > 1",
            "Select[r.x > 1](Join[s.a = r.a](Window[[NOW]](StreamScan[s]), Window[[NOW]](StreamScan[r])))",
        ),
        (
            "SELECT s.a FROM s [NOW], r [NOW], r [NOW] AS q WHERE s.a = q.a AND r.x = s.a",
            "Project[s.a AS a](Join[s.a = q.a](Join[r.x = s.a](Window[[NOW]](StreamScan[s]), "
            "Window[[NOW]](StreamScan[r])), Window[[NOW]](StreamScan[r])))",
        ),
        (
            "SELECT label, a FROM meta, s [NOW] WHERE k = a",
            "Project[meta.label AS label, s.a AS a]"
            "(NrrJoin[meta.k = s.a](Window[[NOW]](StreamScan[s]), NrrScan[meta]))",
        ),
        (
            "SELECT label, a FROM meta JOIN s [NOW] ON k = a",
            "Project[meta.label AS label, s.a AS a]"
            "(NrrJoin[meta.k = s.a](Window[[NOW]](StreamScan[s]), NrrScan[meta]))",
        ),
        (
            "SELECT a FROM (SELECT k FROM meta WHERE k > 1) m RIGHT JOIN s ON m.k = s.a",
            "Project[s.a AS a](LeftOuterNrrJoin[m.k = s.a](StreamScan[s], "
            "Project[meta.k AS k](Select[meta.k > 1](NrrScan[meta]))))",
        ),
        ("SELECT a FROM s UNION SELECT a FROM r",
         "Distinct(Union(Project[s.a AS a](StreamScan[s]), Project[r.a AS a](StreamScan[r])))"),
        (
            "SELECT a FROM s EXCEPT SELECT a FROM r",
            "Negation[all columns]"
            "(Distinct(Project[s.a AS a](StreamScan[s])), Distinct(Project[r.a AS a](StreamScan[r])))",
        ),
        (
            "SELECT a FROM s WHERE EXISTS (SELECT 1 FROM r WHERE r.a = s.a AND x > 1)",
            "Project[s.a AS a](SemiJoin[r.a = s.a](StreamScan[s], Select[r.x > 1](StreamScan[r])))",
        ),
        (
            "SELECT a FROM s WHERE a NOT IN (SELECT x FROM r)",
            "Project[s.a AS a](AntiJoin[COALESCE(s.a = x, TRUE)](StreamScan[s], Project[r.x AS x](StreamScan[r])))",
        ),
        ("RSTREAM(SELECT * FROM s [NOW])", "RStream(Window[[NOW]](StreamScan[s]))"),
        ("SELECT * FROM DSTREAM(SELECT * FROM s [NOW]) [ROWS 2]",
         "Window[[ROWS 2]](DStream(Window[[NOW]](StreamScan[s])))"),
    ],
)  # fmt: skip
def test_plan(cql: str, expected: str) -> None:
    assert outline(plan_of(cql)) == expected


def test_negation_on_an_attribute_keeps_the_left_payload() -> None:
    plan = plan_of("SELECT b, a FROM s EXCEPT ALL ON (a) SELECT a, x FROM r")
    assert isinstance(plan, Negation)
    assert plan.on == ((1, 0),)
    assert plan.schema.names == ("b", "a")


def test_a_script_declares_and_registers_in_order() -> None:
    catalog = catalogue()
    queries = compile_script(
        """
        REGISTER QUERY hot AS SELECT a, count(*) AS n FROM s [RANGE 5] GROUP BY a;
        SELECT n FROM hot WHERE n > 1; -- a registered query can be queried
        """,
        catalog,
    )
    assert [q.name for q in queries] == ["hot", None]
    assert outline(queries[1].plan).startswith("Project[hot.n AS n](Select[hot.n > 1](Project")


def test_equal_texts_give_equal_plans_whatever_their_case_and_aliases() -> None:
    assert plan_of("select T.a from S [range 5] as T where T.d > 1") == plan_of(
        "SELECT a FROM s [RANGE 5] WHERE d > 1.0"
    )
    assert plan_of("SELECT a FROM s [RANGE 5]") != plan_of("SELECT a FROM s [RANGE 6]")
    assert plan_of("SELECT 1 FROM s") != plan_of("SELECT TRUE FROM s")
    assert plan_of("SELECT 1 FROM s") != plan_of("SELECT 1.0 FROM s")


def test_a_bare_time_of_day_means_today() -> None:
    plan = compile_query("SELECT * FROM ev [UNBOUNDED START AT '07:00:00']", catalogue(), today=3 * DAY)
    assert plan.detail == "[UNBOUNDED START AT '1970-01-04 07:00:00']"
