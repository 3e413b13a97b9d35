"""Would catch an EXPLAIN that leaves out an operator, a label, a buffer or a bound, or that does not fit the screen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given

from explain.golden import golden
from patterns.drawn import plans
from patterns.plans import (
    S1,
    S2,
    S3,
    SRC,
    R,
    figure_6_left,
    figure_6_right,
    ftp,
    group_by,
    join,
    join_on_src,
    link,
    negation,
    nrr_join,
    picky_join,
    project,
    rows,
    select,
    sliding,
)
from thalweg.algebra.expressions import call, column, literal
from thalweg.algebra.plan import Distinct, IStream, Plan, Select, Union, Windowed
from thalweg.algebra.windows import Landmark, Range
from thalweg.core.time import SECOND
from thalweg.explain import explain_json, explain_text

MINUTE = 60 * SECOND


def query_3() -> Plan:
    """Q3 of PatroumpasSellis2011, with a HAVING: a landmark joined with a sliding window, grouped."""
    humid = Windowed(link("humidity"), Landmark(start=7 * 60 * MINUTE))
    warm = Windowed(link("temperature"), Range(60 * MINUTE, MINUTE))
    grouped = group_by(join_on_src(humid, warm), SRC)
    return Select(grouped, call(">", column(grouped.schema, 1), literal(10)))


EXAMPLES: dict[str, Plan] = {
    "filter": project(ftp(link("link1")), 1, 2),
    "distinct": Distinct(project(Windowed(link("link1"), Range(MINUTE)), 1)),
    "figure_6_left": figure_6_left(MINUTE),
    "figure_6_right": figure_6_right(MINUTE),
    "count_join": project(join(rows(S1), select(rows(S2, 50))), 0, 3),
    "ordered_join": picky_join(rows(S1), select(rows(S2, 50))),
    "landmark_aggregate": query_3(),
    "relations": join(nrr_join(sliding(S1)), R),
    "unbounded": IStream(negation(project(join(S1, S2), 0, 1), sliding(S3))),
    "union": Union(sliding(S1, 1), sliding(S2, 9)),
    "group_by": group_by(sliding(S1), 0),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_text(name: str) -> None:
    actual = explain_text(EXAMPLES[name])
    assert actual == golden(f"{name}.txt", actual)


@pytest.mark.parametrize("name", EXAMPLES)
def test_json(name: str) -> None:
    actual = json.dumps(explain_json(EXAMPLES[name]), indent=2, ensure_ascii=False) + "\n"
    assert actual == golden(f"{name}.json", actual)


def operators(explained: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every operator of a JSON EXPLAIN, from the top."""
    yield explained
    for child in explained["children"]:
        yield from operators(child)


@given(plans())
def test_json_describes_every_operator(plan: Plan) -> None:
    explained = list(operators(explain_json(plan)))
    assert [e["operator"] for e in explained] == [node.label for node in plan.walk()]
    assert [[f["name"] for f in e["schema"]] for e in explained] == [list(node.schema.names) for node in plan.walk()]
    keys = {"operator", "detail", "pattern", "expiry", "why", "buffer", "bound", "bounded", "schema", "children"}
    assert all(keys <= e.keys() for e in explained)
    assert json.loads(json.dumps(explain_json(plan))) == explain_json(plan)


@given(plans())
def test_text_has_one_line_per_operator_and_fits_120_columns(plan: Plan) -> None:
    lines = explain_text(plan).splitlines()
    assert max(map(len, lines)) <= 120
    tree = lines[1 : lines.index("")]
    assert len(tree) == len(list(plan.walk()))
    for line, node in zip(tree, plan.walk(), strict=True):
        assert node.label[:8] in line


@given(plans())
def test_text_and_json_say_the_same(plan: Plan) -> None:
    lines = explain_text(plan).splitlines()
    start = lines[0].index("pattern")
    shown = [line[start:].split()[0] for line in lines[1 : lines.index("")]]
    assert shown == [e["pattern"] for e in operators(explain_json(plan))]


def test_long_details_are_cut_with_an_ellipsis_but_not_in_json() -> None:
    condition = call("=", column(S1.schema, 0), literal(1))
    for i in range(30):
        condition = call("or", condition, call("=", column(S1.schema, 0), literal(i)))
    plan = Select(S1, condition)
    line = explain_text(plan).splitlines()[1]
    assert "…  MON" in line
    assert len(line) <= 120
    assert explain_json(plan)["detail"] == str(condition)


def test_count_windows_say_that_expiry_is_an_order() -> None:
    said = "expiry   an order, not a time"
    assert said in explain_text(join(rows(S1), rows(S2)))
    assert said not in explain_text(join(sliding(S1), sliding(S2)))
    assert "the expiry is an order, not a time" in explain_text(group_by(rows(S1), 0))  # also deep inside


@pytest.mark.parametrize(
    ("plan", "output"),
    [
        (select(S1), "an append-only stream"),
        (sliding(S1), "a view kept by exp"),
        (rows(S1), "a view kept by order of expiration"),
        (group_by(S1, 0), "a view kept by group"),
        (negation(sliding(S1), sliding(S2)), "a view that needs negative tuples"),
        (select(group_by(S1, 0)), "a view that needs negative tuples"),
    ],
)
def test_the_kind_of_answer_is_said_in_words(plan: Plan, output: str) -> None:
    assert explain_json(plan)["output"].startswith(output)
    assert f"output   {output}" in explain_text(plan)


def test_a_label_that_promises_too_much_is_qualified() -> None:
    assert "(WK): by rule 4 below, though not every replacement" in explain_text(select(group_by(sliding(S1), 0)))
    assert "(WK): results leave out of order" in explain_text(group_by(sliding(S1), 0))
    assert "(WKS): by rule 2, though results leave out of order" in explain_text(Union(sliding(S1, 1), sliding(S2, 9)))
    assert "(WKS): results leave in the order" in explain_text(Union(sliding(S1), sliding(S2)))


def test_unbounded_state_is_cautioned_with_a_way_out() -> None:
    text = explain_text(join(S1, sliding(S2)))
    assert "caution  the state of Join is unbounded: grows with stream s1; put a window such as [RANGE ...]" in text
    assert "caution" not in explain_text(join(sliding(S1), sliding(S2)))
