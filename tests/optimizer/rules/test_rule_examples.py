"""Each rule where it applies and where it must not, as plans in text; and each example held against the reference.

Would catch a condition that was lost, and a rule that stopped to fire. `UPDATE_GOLDEN=1` writes examples.txt anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cql.catalogue import outline
from optimizer.rules.examples import Example, examples, write
from optimizer.same import difference
from strategies import effort
from strategies.catalog import catalog_of
from strategies.histories import histories
from thalweg.optimizer import CHOICES, RULES, Rule

if os.environ.get("UPDATE_GOLDEN") == "1":
    write(examples())
EXAMPLES = examples()
TABLE = Path(__file__).parents[3] / "docs" / "optimizer.md"
KEEPS_DATES = {rule.name: rule.keeps_dates for rule in (*RULES, *CHOICES)}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.rule}: {e.cql}")
def test_a_rule_makes_of_a_plan_what_the_example_says(example: Example) -> None:
    assert outline(example.plan) == example.before
    made = example.made
    assert (None if made is None else outline(made)) == example.after


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.after], ids=lambda e: f"{e.rule}: {e.cql}")
@effort.examples(25)
@given(data=st.data())
def test_what_a_rule_makes_gives_the_same(example: Example, data: st.DataObject) -> None:
    plan, made = example.plan, example.made
    assert made is not None and made.schema == plan.schema
    history = data.draw(histories(catalog_of(plan)))
    assert difference(plan, made, history, dated=KEEPS_DATES[example.rule]) is None


@pytest.mark.parametrize("rule", [*RULES, *CHOICES], ids=lambda rule: rule.name)
def test_every_rule_has_an_example_where_it_applies_and_one_where_it_does_not(rule: Rule) -> None:
    mine = [e for e in EXAMPLES if e.rule == rule.name]
    assert any(e.after for e in mine) and any(e.after is None for e in mine)


def test_the_docs_have_every_rule_in_its_place() -> None:
    rows = [
        line.split("|")[1].strip() for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("|")
    ]
    named = {rule.name for rule in (*RULES, *CHOICES)}
    assert sorted(row for row in rows if row in named) == sorted(named)
