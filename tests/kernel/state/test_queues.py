"""Catches queues that lose, mix up or resurrect rows when their rings move, wrap round or are laid out anew."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies.effort import examples
from thalweg.core.lanes import Ints
from thalweg.kernel.state.queues import Queues

Row = tuple[float, ...]  # its end, and a number of its own

CODES = 5


def as_lanes(rows: list[Row]) -> tuple[Ints, np.typing.NDArray[np.float64]]:
    return np.array([row[0] for row in rows], dtype=np.int64), np.array([row[1] for row in rows], dtype=np.float64)


def contents(queues: Queues, code: int) -> list[Row]:
    """The rows of a queue, in order."""
    numbers = np.arange(queues.first[code] + 1, queues.last[code] + 1)
    lanes = queues.read(queues.slots(np.full(len(numbers), code), numbers))
    return list(zip(*(lane.tolist() for lane in lanes), strict=True))


class Check:
    """Queues beside plain lists."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.queues = Queues([np.int64, np.float64])
        self.lists: dict[int, list[Row]] = {code: [] for code in range(CODES)}
        self.clock = 0
        self.end = 0
        self.numbers = count()

    def pick(self, options: Sequence[int]) -> int:
        return self.data.draw(st.sampled_from(options))

    def rows(self, wanted: int) -> list[Row]:
        """New rows that end no earlier than those before."""
        rows: list[Row] = []
        for _ in range(wanted):
            self.end = max(self.end, self.clock + 1) + self.pick([0, 0, 1, 3])
            rows.append((self.end, float(next(self.numbers))))
        return rows

    def append(self) -> None:
        new = {code: self.rows(self.pick([0, 1, 2, 9])) for code in range(CODES)}
        codes = np.repeat(np.arange(CODES), [len(rows) for rows in new.values()])
        ranks = np.array([i for rows in new.values() for i in range(len(rows))], dtype=np.int64)
        flat = [row for rows in new.values() for row in rows]
        self.queues.append(codes, ranks, as_lanes(flat), self.clock)
        for code, rows in new.items():
            self.lists[code] += rows

    def leave(self) -> None:
        code = self.pick(range(CODES))
        self.queues.drop_ended(np.array([code]), self.clock)
        alive = self.alive(code)
        leaving = self.pick(range(len(alive) + 1))
        self.queues.first[code] += leaving
        self.lists[code] = alive[leaving:]

    def retract(self) -> None:
        code = self.pick(range(CODES))
        if self.alive(code):
            self.queues.retract(np.array([code]))
            self.lists[code].pop()

    def replace(self) -> None:
        codes = [1, 3]
        new = [self.rows(self.pick([0, 3, 12])) for _ in codes]
        self.queues.replace(np.array(codes), np.array([len(rows) for rows in new]), as_lanes(new[0] + new[1]))
        self.lists.update(zip(codes, new, strict=True))

    def wait(self) -> None:
        self.clock += self.pick(range(9))

    def alive(self, code: int) -> list[Row]:
        return [row for row in self.lists[code] if row[0] > self.clock]

    def compare(self) -> None:
        for code in range(CODES):
            assert [row for row in contents(self.queues, code) if row[0] > self.clock] == self.alive(code)
        assert self.queues.alive(self.clock) == sum(len(self.alive(code)) for code in range(CODES))
        for code in range(CODES):
            assert contents(self.queues, code) == self.alive(code)


@examples(150)
@given(st.data())
def test_queues_are_lists(data: st.DataObject) -> None:
    check = Check(data)
    check.queues.reach(CODES)
    actions = [check.append, check.append, check.wait, check.leave, check.retract, check.replace, check.compare]
    for action in data.draw(st.lists(st.sampled_from(actions), min_size=1, max_size=20)):
        action()
    check.compare()


def test_codes_can_come_later() -> None:
    queues = Queues([np.int64])
    queues.reach(1)
    queues.append(np.array([0, 0]), np.array([0, 1]), [np.array([5, 6])], 0)
    queues.reach(40)
    queues.append(np.array([39]), np.array([0]), [np.array([7])], 0)
    assert [lane.tolist() for lane in queues.read(queues.slots(np.array([0, 0, 39]), np.array([1, 2, 1])))] == [
        [5, 6, 7]
    ]


def test_rings_of_steady_queues_do_not_move() -> None:
    # 3 rows alive at any time: the ring is reused for ever, and memory stays as it is.
    queues = Queues([np.int64])
    queues.reach(1)
    sizes = set()
    for t in range(1000):
        queues.append(np.array([0]), np.array([0]), [np.array([t + 3])], t)
        sizes.add(len(queues._lanes[0]))
    assert max(sizes) <= 12
