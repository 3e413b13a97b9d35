"""Would catch a tuple that meets an NRR as it is instead of as it was, or misses an update of its own instant."""

from __future__ import annotations

import pytest
from hypothesis import given

from kernel.operators.feeds import Signed, Step, check, feeds, from_batch, to_batch
from strategies.effort import examples
from thalweg.algebra.expressions import TRUE, Expression, and_, call, column
from thalweg.algebra.plan import JoinKind
from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.operators.nrr_join import NrrJoin
from thalweg.reference import operators as reference

LEFT = Schema.of(k=DataType.BIGINT, v=DataType.BIGINT)
NRR = Schema.of(k=DataType.BIGINT, x=DataType.DOUBLE, name=DataType.STRING)
BOTH = LEFT + NRR
BY_KEY = call("=", column(BOTH, 0), column(BOTH, 2))
CONDITIONS: dict[str, Expression] = {
    "by key": BY_KEY,
    "by key and the rest": and_([BY_KEY, call("<", column(BOTH, 1), column(BOTH, 3))]),
    "by an inequality": call("<", column(BOTH, 0), column(BOTH, 2)),
    "all pairs": TRUE,
}


@pytest.mark.parametrize("kind", [JoinKind.INNER, JoinKind.LEFT])
@pytest.mark.parametrize("name", CONDITIONS)
@examples(30)
@given(steps=feeds(LEFT, NRR, most=14))
def test_the_reference_agrees(name: str, kind: JoinKind, steps: list[Step]) -> None:
    condition = CONDITIONS[name]
    check(
        lambda pool: NrrJoin(LEFT, NRR, condition, kind, pool),
        [LEFT, NRR],
        BOTH,
        steps,
        lambda at, t: reference.nrr_join(at(0, t), lambda ts: at(1, ts), condition, kind, len(NRR)),
    )


#  time     1   2   3   4
#  NRR      a   .   b   .     the name of key 1
#  left         x       y
def test_later_updates_change_nothing() -> None:
    join = _FedJoin(JoinKind.INNER)
    assert join.step(1, [], _named("a", 1)) == []
    assert join.step(2, [2], []) == [("a", 1)]
    assert join.step(3, [], _renamed("a", "b", 3)) == []
    assert join.step(4, [4], []) == [("b", 1)]


def test_an_update_of_the_same_instant_that_comes_later_corrects() -> None:
    join = _FedJoin(JoinKind.LEFT)
    assert join.step(2, [2], []) == [(None, 1)]
    assert sorted(join.step(2, [], _named("a", 2)), key=str) == [("a", 1), (None, -1)]
    assert sorted(join.step(2, [], _renamed("a", "b", 2))) == [("a", -1), ("b", 1)]
    assert join.step(3, [], _renamed("b", "c", 3)) == []


def test_many_updates_leave_no_trace_in_the_output() -> None:
    join = _FedJoin(JoinKind.INNER)
    join.step(0, [], _named("0", 0))
    for t in range(1, 50):
        join.step(t, [], _renamed(str(t - 1), str(t), t))
        assert join.step(t, [t], []) == [(str(t), 1)]


def test_only_the_last_instant_of_the_left_side_is_kept() -> None:
    join = _FedJoin(JoinKind.INNER)
    join.step(4, [1, 2, 3, 4, 4], [])
    assert join.operator.stored == 2
    join.step(5, [], [])
    assert join.operator.stored == 0


def _named(name: str, t: Instant) -> list[Signed]:
    return [Signed(_row(name), t, FOREVER, 1, BEGINNING, FOREVER)]


def _renamed(old: str, new: str, t: Instant) -> list[Signed]:
    return [Signed(_row(old), t, FOREVER, -1, BEGINNING, FOREVER), *_named(new, t)]


def _row(name: str) -> Row:
    return (1, 0.5, name)


class _FedJoin:
    """A join by key, fed by hand with the times of left tuples and updates of the NRR; it shows names and signs."""

    def __init__(self, kind: JoinKind) -> None:
        self._pool = StringPool()
        self.operator = NrrJoin(LEFT, NRR, BY_KEY, kind, self._pool)

    def step(self, now: Instant, left: list[Instant], nrr: list[Signed]) -> list[tuple[object, int]]:
        arrivals = [Signed((1, 0), ts, ts + 9, 1, ts, ts + 9) for ts in left]
        inputs = [to_batch(arrivals, LEFT, self._pool), to_batch(nrr, NRR, self._pool)]
        found = from_batch(self.operator.process(inputs, now), BOTH, self._pool)
        return [(s.row[-1], s.sign) for s in found]
