"""Would catch a pair that is missed, emitted twice, kept too long or misdated, whatever the style of the inputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.feeds import Signed, Step, check, feeds, from_batch, to_batch
from strategies.effort import examples
from thalweg.algebra.expressions import TRUE, Expression, and_, call, column, literal
from thalweg.algebra.plan import JoinKind
from thalweg.core.rows import Dated
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.operators.join import Join
from thalweg.kernel.state.buffers import Buffer, FifoBuffer, KeyedBuffer, PartitionedBuffer, SequentialBuffer
from thalweg.kernel.sweep.pairs import pairs
from thalweg.kernel.tuning import Tuning
from thalweg.reference import operators as reference

LEFT = Schema.of(k=DataType.BIGINT, s=DataType.STRING)
RIGHT = Schema.of(s=DataType.STRING, k=DataType.BIGINT, x=DataType.DOUBLE)
BOTH = LEFT + RIGHT
K, S, S2, K2, X = (column(BOTH, i) for i in range(5))
CONDITIONS: dict[str, Expression] = {
    "by key": call("=", K, K2),
    "by two keys": and_([call("=", K, K2), call("=", S2, S)]),
    "by key and the rest": and_([call("=", K, K2), call("<>", S, S2)]),
    "by expressions": call("=", call("+", K, literal(1)), call("*", K2, literal(2))),
    "by numbers of two types": call("=", K, X),
    "by an inequality": call("<", K, K2),
    "all pairs": TRUE,
}
# Whatever comes, no result depends on the layout or on when a buffer forgets.
MakeBuffer = Callable[[Tuning], Buffer]
BUFFERS: list[MakeBuffer] = [
    lambda tuning: KeyedBuffer(2, tuning=tuning),
    lambda tuning: FifoBuffer(2, tuning=tuning),
    lambda tuning: PartitionedBuffer(3, tuning=tuning),
    lambda tuning: SequentialBuffer(),
    lambda tuning: KeyedBuffer(2, 4, tuning),
    lambda tuning: PartitionedBuffer(1, 3, tuning),
    lambda tuning: FifoBuffer(2, 20, tuning),
]


@pytest.mark.parametrize("name", CONDITIONS)
@examples(40)
@given(
    drawn_feed=st.sampled_from([(False, False), (True, True), (True, False), (False, True)]).flatmap(
        lambda direct: st.tuples(st.just(direct), feeds(LEFT, RIGHT, direct=any(direct), most=14))
    ),
    dated=st.booleans(),
    from_left=st.booleans(),
    small=st.sampled_from([0, 1024]),
    fewer=st.sampled_from([0, 16]),
    piece=st.sampled_from([2, 1, 1 << 16]),
    left=st.sampled_from(BUFFERS),
    right=st.sampled_from(BUFFERS),
)
def test_the_reference_agrees(
    name: str,
    drawn_feed: tuple[tuple[bool, bool], list[Step]],
    dated: bool,
    from_left: bool,
    small: int,
    fewer: int,
    piece: int,
    left: MakeBuffer,
    right: MakeBuffer,
) -> None:
    tuning = Tuning(
        always_merge_runs_up_to=small, filter_when_times_fewer=fewer, pairs_at_once=piece, results_at_once=piece
    )
    condition, (direct, steps) = CONDITIONS[name], drawn_feed

    def model(left: list[Dated], right: list[Dated]) -> list[Dated]:
        if from_left:  # the right side's dates decide nothing
            right = [d._replace(ts=-9, exp=FOREVER) for d in right]
        return reference.join(left, right, condition, JoinKind.INNER, (len(LEFT), len(RIGHT)))

    def make(pool: StringPool) -> Join:
        sides = left(tuning), right(tuning)

        return Join(
            LEFT, RIGHT, condition, pool, dated, buffers=sides, direct=direct, dates_from_left=from_left, tuning=tuning
        )

    check(
        make,
        [LEFT, RIGHT],
        BOTH,
        steps,
        lambda at, t: model(at(0, t), at(1, t)),
        dated,
    )


def keyed() -> tuple[Buffer, Buffer]:
    return KeyedBuffer(), KeyedBuffer()


@examples(30)
@given(steps=feeds(LEFT, LEFT))
def test_null_meets_null_where_rows_are_compared(steps: list[Step]) -> None:
    condition = call("not", call("is_distinct", K, column(LEFT + LEFT, 2)))
    check(
        lambda pool: Join(LEFT, LEFT, TRUE, pool, True, buffers=keyed(), null_safe=[(0, 0)]),
        [LEFT, LEFT],
        LEFT + LEFT,
        steps,
        lambda at, t: reference.join(at(0, t), at(1, t), condition, JoinKind.INNER, (2, 2)),
    )


#  time     1  2  3  4  5  6  7  8
#  left     a--------)              known end
#  right          b-----------)     known end
#  pair           ab-)
def test_known_ends_are_emitted_at_once() -> None:
    join = _OneKey()
    assert join.step(3, [(1, 4, 1)], [(3, 7, 1)]) == [(3, 4, 1)]
    assert join.step(9, [], []) == []
    assert join.operator.stored == 0


#  time     1  2  3  4  5  6
#  left     a------------------    deleted at 5 by a negative tuple
#  right       b---------------
#  pair        ab-------)          emitted as forever, then taken back
def test_a_negative_tuple_takes_its_pairs_back() -> None:
    join = _OneKey()
    assert join.step(2, [(1, FOREVER, 1)], [(2, FOREVER, 1)]) == [(2, FOREVER, 1)]
    assert join.step(5, [(5, FOREVER, -1)], []) == [(5, FOREVER, -1)]
    assert join.operator.stored == 1  # only b is left
    assert join.step(6, [], [(6, FOREVER, -1)]) == []
    assert join.operator.stored == 0


def test_what_comes_and_goes_within_a_batch_is_emitted_once() -> None:
    join = _OneKey()
    assert join.step(6, [(1, FOREVER, 1), (5, FOREVER, -1)], [(2, FOREVER, 1)]) == [(2, 5, 1)]
    assert join.operator.stored == 1


def test_a_new_tuple_meets_an_old_one_that_is_deleted_later_in_the_batch() -> None:
    join = _OneKey()
    join.step(1, [], [(1, FOREVER, 1)])
    assert join.step(9, [(3, FOREVER, 1), (7, FOREVER, 1)], [(5, FOREVER, -1)]) == [(3, 5, 1)]


def test_an_instant_in_two_batches_gives_each_pair_once() -> None:
    join = _OneKey()
    assert join.step(1, [(1, 5, 1)], []) == []
    assert join.step(1, [], [(1, 3, 1)]) == [(1, 3, 1)]
    assert join.step(1, [(1, 9, 1)], []) == [(1, 3, 1)]


@examples(20)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4))), st.integers(1, 9))
def test_pieces_of_slices_are_all_pairs(slices: list[tuple[int, int]], piece: int) -> None:
    first, count = (np.array([s[i] for s in slices], dtype=np.int64) for i in (0, 1))
    pieces = list(pairs(first, count, piece))
    assert all(len(i) == len(j) == piece for i, j in pieces[:-1]) and all(len(i) <= piece for i, _ in pieces)
    found = [pair for rows, places in pieces for pair in zip(rows.tolist(), places.tolist(), strict=True)]
    assert found == [(row, a + i) for row, (a, n) in enumerate(slices) for i in range(n)]
    assert all(len(rows) <= max(piece, 4) for rows, _ in pieces)


class _OneKey:
    """A join of one key, fed by hand with (start, end, sign)."""

    def __init__(self) -> None:
        self._pool, self._schema = StringPool(), Schema.of(k=DataType.BIGINT)
        both = self._schema + self._schema
        condition = call("=", column(both, 0), column(both, 1))
        self.operator = Join(self._schema, self._schema, condition, self._pool, False, buffers=keyed())

    def step(
        self, now: Instant, left: list[tuple[int, int, int]], right: list[tuple[int, int, int]]
    ) -> list[tuple[int, int, int]]:
        batches = [
            to_batch(
                [Signed((7,), start, end, sign, 0, 0) for start, end, sign in side], self._schema, self._pool, False
            )
            for side in (left, right)
        ]
        found = from_batch(self.operator.process(batches, now), self._schema + self._schema, self._pool, False)
        return [(s.start, s.end, s.sign) for s in found]
