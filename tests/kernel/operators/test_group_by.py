"""Group-by with every aggregate against the reference at every instant.

Would catch: a sum that drifts when values leave, an overflow that wraps, an extremum that stays after its tuple or is
forgotten too early, a DISTINCT that counts copies, a NULL that counts, a vanished group that stays or a global row that
goes, a wrong date, an instant fed in two batches that is not corrected.
"""

from __future__ import annotations

import math
import pickle
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.feeds import Signed, Step, check, contents, feeds, from_batch, to_batch
from strategies.effort import examples
from thalweg.algebra.expressions import AGGREGATES, Aggregate, column
from thalweg.algebra.plan import Named, NamedAggregate
from thalweg.core.rows import Row, Value
from thalweg.core.schema import Field, Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER
from thalweg.core.types import INT64_MAX, DataType
from thalweg.kernel.operators.group_by import GroupBy, Specification
from thalweg.reference import operators as reference

BIGINT, DOUBLE, STRING = DataType.BIGINT, DataType.DOUBLE, DataType.STRING
SCHEMA = Schema.of(k=BIGINT, s=STRING, v=BIGINT, x=DOUBLE, b=DataType.BOOLEAN, w=DataType.INTERVAL)
COUNT: Specification = (Aggregate.of("count"), None)

EVERY: list[Specification] = [COUNT] + [
    (Aggregate.of(function, column(SCHEMA, i), distinct), i)
    for function in AGGREGATES
    for i, field in enumerate(SCHEMA)
    for distinct in (False, True)
    if field.type in AGGREGATES[function]
]
EXTREMA = [(a, i) for a, i in EVERY if a.function in ("min", "max")]
KEYS = st.sampled_from([(0,), (), (1, 3), (4, 0, 1)])
SPECIFICATIONS = st.lists(st.sampled_from(EVERY), max_size=4)
FIRST = Step(-3, ([],))  # a query is asked at its first instant, before anything is there


def _check(
    steps: Sequence[Step], keys: Sequence[int], aggregates: Sequence[Specification], dated: bool, known_ends: bool
) -> GroupBy:
    named = [NamedAggregate(a, str(a)) for a, _ in aggregates]
    by = [Named(column(SCHEMA, i), SCHEMA[i].name) for i in keys]
    output = Schema(tuple(SCHEMA[i] for i in keys) + tuple(Field(n.name, n.aggregate.type) for n in named))
    operator = check(
        lambda pool: GroupBy(keys, aggregates, SCHEMA, pool, dated, known_ends),
        [SCHEMA],
        output,
        [FIRST, *steps],
        lambda at, t: reference.group_by(at(0, t), by, named),
        dated,
    )
    assert isinstance(operator, GroupBy)
    return operator


@examples(100)
@given(feeds(SCHEMA, most=12), KEYS, SPECIFICATIONS, st.booleans())
def test_any_input(steps: list[Step], keys: tuple[int, ...], aggregates: list[Specification], dated: bool) -> None:
    _check(steps, keys, aggregates, dated, known_ends=False)


@examples(100)
@given(feeds(SCHEMA, direct=True, most=14), KEYS, SPECIFICATIONS, st.booleans(), st.booleans())
def test_input_with_known_ends(
    steps: list[Step], keys: tuple[int, ...], aggregates: list[Specification], dated: bool, is_known: bool
) -> None:
    _check(steps, keys, aggregates, dated, known_ends=is_known)


@examples(60)
@given(feeds(SCHEMA, most=20), st.sampled_from(EXTREMA), st.booleans())
def test_one_extremum(steps: list[Step], extremum: Specification, dated: bool) -> None:
    _check(steps, (), [extremum], dated, known_ends=False)


@examples(60)
@given(feeds(SCHEMA, direct=True, most=20), st.sampled_from(EXTREMA), st.booleans())
def test_one_extremum_with_known_ends(steps: list[Step], extremum: Specification, dated: bool) -> None:
    _check(steps, (), [extremum], dated, known_ends=True)


_EXTREME: dict[str, Mapping[Value, Value]] = {
    "v": {1: INT64_MAX, 0: -INT64_MAX, 2: 7},
    "x": {0.5: 1e16, -1.0: 0.1, 2.5: -1e308, 0.0: 5e-324},
    "x, infinite": {0.5: math.inf, -1.0: -math.inf, 2.5: 1.0, 0.0: -0.0},
    "x, huge": {0.5: 1e308, -1.0: 1e308, 2.5: -1e308, 0.0: 1e292},
}
_SUMS = [(a, i) for a, i in EVERY if a.function in ("sum", "avg", "min", "max", "count") and i in (2, 3)]


@pytest.mark.parametrize("name", _EXTREME)
@examples(25)
@given(feeds(SCHEMA, most=14), st.sampled_from([(), (0,)]), st.lists(st.sampled_from(_SUMS), min_size=1, max_size=3))
def test_extreme_numbers(name: str, steps: list[Step], keys: tuple[int, ...], aggregates: list[Specification]) -> None:
    place = SCHEMA.find(name[0])[0]

    def revalued(s: Signed) -> Signed:
        value = _EXTREME[name].get(s.row[place], s.row[place])
        return s._replace(row=(*s.row[:place], value, *s.row[place + 1 :]))

    changed = [Step(step.now, ([revalued(s) for s in step.inputs[0]],)) for step in steps]
    _check(changed, keys, aggregates, dated=False, known_ends=False)


def _tuple(start: int, end: int, v: int, sign: int = 1, k: int = 1) -> Signed:
    return Signed((k, "a", v, 0.5, True, 0), start, end, sign, start, end)


def _emitted(operator: GroupBy, types: Sequence[DataType], *batches: tuple[int, list[Signed]]) -> list[list[Signed]]:
    pool = StringPool()
    schema = Schema(tuple(Field("", type_) for type_ in types))
    return [
        from_batch(operator.process([to_batch(tuples, SCHEMA, pool, False)], now), schema, pool, False)
        for now, tuples in batches
    ]


def _row(row: tuple[Value, ...], start: int, end: int = FOREVER, sign: int = 1) -> Signed:
    return Signed(row, start, end, sign, 0, 0)


def _made(keys: Sequence[int], *names: str, known_ends: bool = False) -> GroupBy:
    chosen = [(a, i) for name in names for a, i in EVERY if str(a) == name]
    assert len(chosen) == len(names)
    return GroupBy(keys, chosen, SCHEMA, StringPool(), known_ends=known_ends)


def test_only_changed_rows_are_emitted_and_short_ones_closed_at_once() -> None:
    operator = _made([0], "COUNT(*)", "SUM(v)")
    emitted = _emitted(
        operator,
        [BIGINT, BIGINT, BIGINT],
        (3, [_tuple(1, 9, 10), _tuple(3, 5, 5), _tuple(3, 20, 1, k=2)]),
        (4, [_tuple(4, 6, 2), _tuple(4, 6, -2)]),
        (9, []),
    )
    assert emitted == [
        [_row((1, 1, 10), 1, 3), _row((1, 2, 15), 3), _row((2, 1, 1), 3)],
        [_row((1, 2, 15), 4, sign=-1), _row((1, 4, 15), 4)],
        [_row((1, 4, 15), 5, sign=-1), _row((1, 3, 10), 5, 6), _row((1, 1, 10), 6, 9)],
    ]


def test_a_global_row_is_there_from_the_first_call_on() -> None:
    emitted = _emitted(
        _made([], "COUNT(*)", "MAX(v)"), [BIGINT, BIGINT], (5, []), (7, []), (8, [_tuple(8, 9, 3)]), (9, [])
    )
    assert emitted == [
        [_row((0, None), 5)],
        [],
        [_row((0, None), 8, sign=-1), _row((1, 3), 8)],
        [_row((1, 3), 9, sign=-1), _row((0, None), 9)],
    ]


def test_a_global_row_begins_with_the_first_tuple_if_that_is_earlier() -> None:
    emitted = _emitted(_made([], "COUNT(*)"), [BIGINT], (5, [_tuple(2, 4, 1)]), (6, []))
    assert emitted == [[_row((1,), 2, 4), _row((0,), 4)], []]


def test_a_global_row_is_dated_at_the_beginning() -> None:
    operator = GroupBy([], [COUNT], SCHEMA, StringPool(), dated=True)
    result = operator.process([to_batch([], SCHEMA, StringPool())], 5)
    assert result.dates is not None
    assert (result.dates.ts.tolist(), result.dates.exp.tolist()) == ([BEGINNING], [FOREVER])


def test_what_cancels_is_not_emitted() -> None:
    emitted = _emitted(
        _made([0], "MIN(v)", "COUNT(DISTINCT v)"),
        [BIGINT, BIGINT, BIGINT],
        (1, [_tuple(1, FOREVER, 4)]),
        (2, [_tuple(2, FOREVER, 4), _tuple(2, FOREVER, 4, -1), _tuple(2, 9, 4)]),
    )
    assert emitted == [[_row((1, 4, 1), 1)], []]


def test_a_staircase_keeps_only_what_may_still_be_shown() -> None:
    operator = _made([], "MAX(v)", known_ends=True)
    rising = [_tuple(i, i + 1000, i) for i in range(500)]
    falling = [_tuple(500 + i, 1500 + i, 999 - i) for i in range(500)]
    pool = StringPool()
    operator.process([to_batch(rising, SCHEMA, pool, False)], 499)
    assert operator.stored <= 5  # the row, what says that its group is there (two tuples, one end), the best value
    operator.process([to_batch(falling, SCHEMA, pool, False)], 999)
    assert operator.stored <= 504
    operator.process([to_batch([], SCHEMA, pool, False)], 2500)
    assert operator.stored == 1


def test_strings_are_ordered_by_code_point_however_late_they_are_met() -> None:
    pool = StringPool()
    operator = GroupBy([], [(a, i) for a, i in EVERY if str(a) in ("MIN(s)", "MAX(s)")], SCHEMA, pool)
    schema = Schema.of(a=STRING, b=STRING)
    shown: list[Row] = []
    for t, text in enumerate(["m", "é", "z", "Z", "\U0001f600", "\uffff", "a"]):
        row = (1, text, 0, 0.5, True, 0)
        batch = to_batch([Signed(row, t, FOREVER, 1, t, FOREVER)], SCHEMA, pool, False)
        emitted = from_batch(operator.process([batch], t), schema, pool, False)
        shown += [s.row for s in emitted if s.sign > 0]
    assert shown[-1] == ("Z", "\U0001f600")


def _lives(count: int, deleted: bool) -> list[Signed]:
    """Many tuples of a few groups with short and long lives, values that fall and rise, some deleted early."""
    dice = random.Random(count)
    tuples = []
    for i in range(count):
        start = i // 3
        end = start + dice.choice([1, 5, 40, 400])
        value = dice.choice([i % 97, -i, i, dice.randrange(50)])
        born = _tuple(start, end, value, k=dice.choice([1, 1, 1, 2, dice.randrange(300)]))
        tuples.append(born)
        if deleted and dice.random() < 0.4:
            tuples.append(born._replace(start=dice.randrange(start, end), sign=-1))
    return sorted(tuples, key=lambda s: s.start)


@pytest.mark.slow
@pytest.mark.parametrize("known_ends", [True, False])
@pytest.mark.parametrize("size", [50, 700])
def test_extrema_of_thousands_of_tuples(known_ends: bool, size: int) -> None:
    names = ("MAX(v)", "MIN(v)", "COUNT(DISTINCT v)")
    operator, pool = _made([0, 1], *names, known_ends=known_ends), StringPool()
    schema = Schema.of(k=BIGINT, s=STRING, high=BIGINT, low=BIGINT, count=BIGINT)
    lives = _lives(4000, deleted=not known_ends)
    emitted: list[Signed] = []
    for i in range(0, len(lives), size):
        batch = to_batch(lives[i : i + size], SCHEMA, pool, False)
        emitted += from_batch(
            operator.process([batch], lives[min(i + size, len(lives)) - 1].start), schema, pool, False
        )
    for t in range(3, lives[-1].start, 37):
        groups: dict[Value, Counter[int]] = defaultdict(Counter)
        for s in lives:
            if s.start <= t < s.end:
                assert isinstance(s.row[2], int)
                groups[s.row[0]][s.row[2]] += s.sign
        alive = {k: +values for k, values in groups.items() if +values}
        wanted = sorted((k, "a", max(v), min(v), len(v)) for k, v in alive.items())
        assert sorted(d.row for d in contents(emitted, t)) == wanted, t


@pytest.mark.slow
@pytest.mark.parametrize("known_ends", [True, False])
def test_state_does_not_grow_with_the_keys_that_have_passed(known_ends: bool) -> None:
    operator, pool = _made([0, 2], "MAX(x)", "SUM(DISTINCT v)", "MIN(v)", known_ends=known_ends), StringPool()
    sizes = []
    for i in range(400):
        tuples = [_tuple(10 * i + j, 10 * i + j + 15, 1000 * i + j, k=1000 * i - j) for j in range(10)]
        operator.process([to_batch(tuples, SCHEMA, pool, False)], 10 * i + 9)
        sizes.append(len(pickle.dumps(operator)))
    assert max(sizes[200:]) <= 1.1 * max(sizes[:100])
