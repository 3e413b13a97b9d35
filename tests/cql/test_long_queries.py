"""Would catch a long query that ends in a RecursionError, takes minutes, or means something else than a short one."""

from __future__ import annotations

import pickle
import time

import pytest

import thalweg as tw
from thalweg.algebra.expressions import Call, Expression, and_, call, column, conjuncts, flattened, literal
from thalweg.core.errors import ThalwegError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType

SCHEMA = Schema.of(a=DataType.BIGINT, p=DataType.BOOLEAN)


def answer(condition: str, values: range) -> list[int]:
    session = tw.local()
    session.execute("CREATE STREAM s (a INT)")
    query = session.query(f"SELECT a FROM s [RANGE 5] WHERE {condition}")
    session.push("s", [(1, value) for value in values])
    return sorted(row[0] for row in query.answer())


def test_hundreds_of_conditions_mean_what_few_do() -> None:
    few = range(0, 1_000, 7)
    assert answer(" AND ".join(f"a <> {i}" for i in few), range(30)) == [i for i in range(30) if i % 7]
    assert answer(" OR ".join(f"(a = {i} AND a < 20)" for i in few), range(30)) == [0, 7, 14]
    assert answer(" AND ".join(f"(a <> {i} OR a = 1000)" for i in few), range(10)) == [1, 2, 3, 4, 5, 6, 8, 9]


def test_a_list_of_thousands_is_ready_in_a_moment() -> None:
    """50,000 members took 13 seconds."""
    began = time.monotonic()
    assert answer(f"a IN ({', '.join(map(str, range(0, 40_000, 2)))})", range(6)) == [0, 2, 4]
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT {'+'.join(['a'] * 400)} AS x FROM s [RANGE 5]",
        " UNION ALL ".join(["SELECT a FROM s [RANGE 5]"] * 500),
        f"SELECT {'(' * 300}a{')' * 300} AS x FROM s [RANGE 5]",
    ],
    ids=["sum", "union", "parentheses"],
)
def test_what_is_too_deep_is_refused_in_words(query: str) -> None:
    session = tw.local()
    session.execute("CREATE STREAM s (a INT)")
    with pytest.raises(ThalwegError, match="the query is nested too deeply"):
        session.query(query)
    with pytest.raises(ThalwegError, match="the query is nested too deeply"):
        session.execute(query)


def test_a_chain_is_not_deep_and_keeps_its_parts() -> None:
    for count in (1, 2, 64, 65, 1_000):
        parts = [call("=", column(SCHEMA, 0), literal(i)) for i in range(count)]
        whole = and_(parts)
        assert conjuncts(whole) == flattened(whole, "and") == parts
        assert depth(whole) <= 80


def test_a_hash_is_not_pickled() -> None:
    """Another process hashes texts otherwise."""
    expression = call("=", column(SCHEMA, 0), literal(1))
    assert isinstance(expression, Call)
    untouched = pickle.dumps(expression)
    hash(expression)
    conjuncts(expression)
    assert pickle.dumps(expression) == untouched
    assert vars(pickle.loads(untouched)) == {"function": "=", "args": expression.args, "type": DataType.BOOLEAN}


def depth(expression: Expression) -> int:
    return 1 + max(map(depth, expression.args)) if isinstance(expression, Call) else 0
