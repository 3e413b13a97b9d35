"""Rows come out when they are due, each once; would catch one lost in a merge or given twice."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.kernel.state.timeline import Timeline

STEPS = st.lists(st.tuples(st.lists(st.integers(0, 30), max_size=5), st.integers(0, 4)), max_size=40)


@given(STEPS)
def test_against_a_plain_list(steps: list[tuple[list[int], int]]) -> None:
    timeline, waiting, now = Timeline(), list[tuple[int, int]](), 0
    for number, (times, passed) in enumerate(steps):
        now += passed
        added = [t + now for t in times]
        timeline.add(np.array(added, dtype=np.int64), np.full(len(added), number))
        waiting += [(t, number) for t in added]
        due = timeline.due(now)
        got = [] if due is None else list(zip(due[0].tolist(), due[1].tolist(), strict=True))
        assert sorted(got) == sorted(w for w in waiting if w[0] <= now)
        waiting = [w for w in waiting if w[0] > now]
        assert len(timeline) == len(waiting)
