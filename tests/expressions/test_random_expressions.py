"""Random typed expressions over random rows mean the same by batch, by row and in DuckDB.

Would catch: a function right alone and wrong under another one (a NULL, an infinity or an empty batch that it never
met), and SQL text that does not nest.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies.expressions import TYPES, expressions, rows, schemas

from expressions.three_ways import by_batch, check


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_three_ways_agree(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    expression = data.draw(expressions(schema, data.draw(st.sampled_from(TYPES)), 3))
    check([expression], schema, data.draw(st.lists(rows(schema), min_size=1, max_size=6)))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_an_empty_batch_gives_an_empty_batch(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    assert by_batch(data.draw(expressions(schema, data.draw(st.sampled_from(TYPES)), 2)), schema, []) == []
