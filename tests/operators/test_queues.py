"""The queue per partition against a plain list per key.

Would catch a row lost, or read from another key's room, when queues outgrow their rooms or are laid out anew, and a row
given up before it has ended.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from operators.told_windows import EXAMPLES
from thalweg.operators.windows.queues import Queues

_KEYS = 150  # enough to fill the first lanes several times over
_BATCHES = st.lists(
    st.tuples(st.integers(1, 120), st.integers(0, 20), st.integers(0, 10**6), st.sampled_from([3, 40, _KEYS])),
    min_size=1,
    max_size=25,
)


@EXAMPLES
@given(st.integers(1, 9), st.integers(1, 60), _BATCHES)
def test_the_last_rows_of_each_key_are_there_until_they_end(
    limit: int, width: int, batches: list[tuple[int, int, int, int]]
) -> None:
    queues = Queues([np.int64, np.float64], limit)
    queues.reach(_KEYS)
    came: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    now, number = 0, 0
    for size, passed, seed, spread in batches:
        now += passed
        drawn = np.random.default_rng(seed).integers(0, spread, size)
        before = {key: len(came[key]) for key in drawn.tolist()}
        for key in drawn.tolist():
            came[key].append((now + width, float(number)))
            number += 1
        _append(queues, came, before, limit, now)
        for key, rows in came.items():
            _compare(queues, key, rows[-limit:], len(rows), now)


def _append(
    queues: Queues, came: dict[int, list[tuple[int, float]]], before: dict[int, int], limit: int, now: int
) -> None:
    keys = sorted(before)
    added = [len(came[key]) - before[key] for key in keys]
    rows = [(key, rank) for key in keys for rank in range(before[key], len(came[key]))[-limit:]]
    row_keys, ranks = (np.array(lane) for lane in zip(*rows, strict=True))
    ends, values = zip(*(came[key][rank] for key, rank in rows), strict=True)
    queues.append(np.array(keys), np.array(added), row_keys, ranks, (np.array(ends), np.array(values)), now)


def _compare(queues: Queues, key: int, last: list[tuple[int, float]], count: int, now: int) -> None:
    """What a queue holds is right, and all that has not ended is held."""
    keys, ranks = np.full(len(last), key), np.arange(count - len(last), count)
    assert queues.came(keys[:1]).tolist() == [count]
    held = queues.holds(keys, ranks)
    assert all(held[i] for i, (end, _) in enumerate(last) if end > now)
    ends, values = queues.read(keys[held], ranks[held])
    assert list(zip(ends.tolist(), values.tolist(), strict=True)) == [
        row for row, h in zip(last, held, strict=True) if h
    ]
