"""User-defined aggregates in the group-by against the reference at every instant.

Would catch: a value that stays after its tuple or is handed over twice, an order that shows how values came, a group
that sees another's values or keeps its code's former ones, a call where nothing changed, an error that is forgotten.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.feeds import Signed, Step, check, contents, feeds, from_batch, to_batch
from strategies.aggregates import USER_AGGREGATES, copies, listing
from strategies.effort import examples
from thalweg.algebra.expressions import Aggregate, UserAggregate, aggregate, column
from thalweg.algebra.plan import Named, NamedAggregate
from thalweg.core.errors import UserFunctionError
from thalweg.core.rows import Row
from thalweg.core.schema import Field, Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER
from thalweg.core.types import DataType
from thalweg.kernel.operators.group_by import GroupBy, Specification
from thalweg.reference import operators as reference

BIGINT, DOUBLE, STRING = DataType.BIGINT, DataType.DOUBLE, DataType.STRING
SCHEMA = Schema.of(
    k=BIGINT, s=STRING, v=BIGINT, x=DOUBLE, b=DataType.BOOLEAN, w=DataType.INTERVAL, t=DataType.TIMESTAMP
)
COUNT: Specification = (Aggregate.of("count"), None)
EVERY: list[Specification] = [
    (Aggregate.of(user, column(SCHEMA, i), distinct), i)
    for user in USER_AGGREGATES
    for i, field in enumerate(SCHEMA)
    for distinct in (False, True)
    if user.takes in (None, field.type)
]
MIXED = st.lists(st.sampled_from([*EVERY, COUNT, (Aggregate.of("max", column(SCHEMA, 2)), 2)]), max_size=3)
KEYS = st.sampled_from([(0,), (), (1, 3)])
FIRST = Step(-3, ([],))  # a query is asked at its first instant, before anything is there


@pytest.mark.parametrize("known_ends", [False, True])
@examples(100)
@given(data=st.data(), keys=KEYS, aggregates=MIXED, dated=st.booleans())
def test_any_input(
    known_ends: bool, data: st.DataObject, keys: tuple[int, ...], aggregates: list[Specification], dated: bool
) -> None:
    steps = data.draw(feeds(SCHEMA, direct=known_ends, most=14))
    named = [NamedAggregate(a, str(a)) for a, _ in aggregates]
    by = [Named(column(SCHEMA, i), SCHEMA[i].name) for i in keys]
    output = Schema(tuple(SCHEMA[i] for i in keys) + tuple(Field(n.name, n.aggregate.type) for n in named))
    check(
        lambda pool: GroupBy(keys, aggregates, SCHEMA, pool, dated, known_ends),
        [SCHEMA],
        output,
        [FIRST, *steps],
        lambda at, t: reference.group_by(at(0, t), by, named),
        dated,
    )


def _tuple(start: int, end: int, v: int | None, sign: int = 1, k: int = 1) -> Signed:
    return Signed((k, "a", v, 0.5, True, 0, 0), start, end, sign, start, end)


class Run:
    """A group-by by k over v, fed by hand."""

    def __init__(self, user: UserAggregate, known_ends: bool = False) -> None:
        self._pool = StringPool()
        chosen = (Aggregate.of(user, column(SCHEMA, 2)), 2)
        self.operator = GroupBy([0], [COUNT, chosen], SCHEMA, self._pool, known_ends=known_ends)
        self._output = Schema.of(k=BIGINT, n=BIGINT, value=user.returns)

    def __call__(self, now: int, *tuples: Signed) -> list[Signed]:
        batch = to_batch(tuples, SCHEMA, self._pool, False)
        return from_batch(self.operator.process([batch], now), self._output, self._pool, False)


def _recorded() -> tuple[UserAggregate, list[list[int]]]:
    calls: list[list[int]] = []

    @aggregate(returns=int)
    def total(values: list[int]) -> int:
        calls.append(values)
        return sum(values)

    calls.clear()  # declaring it asked for the result over nothing
    return total, calls


def test_the_function_is_called_once_for_each_instant_that_changes_its_group() -> None:
    total, calls = _recorded()
    run = Run(total)
    run(3, _tuple(1, 9, 5), _tuple(3, 6, 4), _tuple(3, 9, None), _tuple(2, 4, 7, k=2))
    assert calls == [[5], [4, 5], [7]]  # by group, then time
    calls.clear()
    run(5, _tuple(5, FOREVER, 1), _tuple(5, FOREVER, 1, -1), _tuple(5, 6, None))  # nothing changes; k = 2 has gone
    assert calls == []
    run(6)
    assert calls == [[5]]


def test_one_error_is_the_end() -> None:
    @aggregate(returns=float)
    def inverse(values: Sequence[int]) -> float:
        return 1 / sum(values)

    run = Run(inverse)
    run(1, _tuple(1, 9, 5))
    for now in (2, 3):  # the tuple that raised is not forgotten, and not put in twice
        with pytest.raises(UserFunctionError, match="INVERSE raised ZeroDivisionError over 2 values: division by zero"):
            run(now, _tuple(now, 9, -5))


@pytest.mark.parametrize("known_ends", [True, False])
@pytest.mark.parametrize("user", [listing, copies], ids=str)
@pytest.mark.parametrize("size", [1, 40, 1000])
def test_groups_that_come_and_go(user: UserAggregate, known_ends: bool, size: int) -> None:
    """Codes of groups are given to others, whose values must begin with nothing."""
    dice = random.Random(size)
    lives = [
        _tuple(i, i + dice.choice([1, 5, 40]), dice.randrange(9), k=dice.choice([1, 2, 10_000_000 * i]))
        for i in range(400)
    ]
    run, emitted = Run(user, known_ends), []
    for i in range(0, len(lives), size):
        chunk = lives[i : i + size]
        emitted += run(chunk[-1].start, *chunk)
    emitted += run(500)
    for t in range(0, 450, 7):
        alive: defaultdict[Any, list[int]] = defaultdict(list)
        for life in lives:
            if life.start <= t < life.end:
                alive[life.row[0]].append(int(life.row[2] or 0))
        wanted: list[Row] = [(k, len(v), _over(user, v)) for k, v in alive.items()]
        assert sorted(d.row for d in contents(emitted, t)) == sorted(wanted), t
    assert run.operator.stored == 0


def _over(user: UserAggregate, values: list[int]) -> str:
    if user is listing:
        return "|".join(map(str, sorted(values)))
    return " ".join(f"{v}:{values.count(v)}" for v in sorted(set(values)))
