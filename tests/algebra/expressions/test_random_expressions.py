"""Random typed expressions over random rows mean the same by batch, by row and in DuckDB.

Would catch: a function right alone and wrong under another one (a NULL, an infinity or an empty batch that it never
met), SQL text that does not nest, and a kernel that forgets an array's offset.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from algebra.expressions.evaluators import by_batch, check, columns
from strategies.effort import examples
from strategies.expressions import TYPES, expressions, rows, schemas
from thalweg.algebra.expressions.vectorise import compile_expression


@examples(250)
@given(st.data())
def test_three_evaluators_agree(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    expression = data.draw(expressions(schema, data.draw(st.sampled_from(TYPES)), 3))
    check([expression], schema, data.draw(st.lists(rows(schema), min_size=1, max_size=6)))


@examples(60)
@given(st.data())
def test_a_slice_of_a_batch_gives_the_slice_of_its_result(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    compiled = compile_expression(data.draw(expressions(schema, data.draw(st.sampled_from(TYPES)), 2)))
    whole = columns(schema, data.draw(st.lists(rows(schema), min_size=4, max_size=6)))
    assert compiled([c.slice(1, 3) for c in whole], 3).equals(compiled(whole, len(whole[0])).slice(1, 3))


@examples(60)
@given(st.data())
def test_an_empty_batch_gives_an_empty_batch(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    assert by_batch(data.draw(expressions(schema, data.draw(st.sampled_from(TYPES)), 2)), schema, []) == []
