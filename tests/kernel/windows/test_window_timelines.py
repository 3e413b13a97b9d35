"""Window operators on timelines drawn by hand: what exactly is emitted, and what is kept.

Would catch output that is right on balance but not the shortest (an end known at once emitted as a negative tuple,
a tuple that is never visible emitted and cancelled, an instant redone from scratch), and state that is never given up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kernel.windows.window_feeds import drawn_by_hand
from thalweg.algebra.windows import BaseWindow, PartitionedRows, Range, Rows, ValueRange, Window
from thalweg.core.batch import Batch
from thalweg.core.rows import Arrival
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Clock, Instant
from thalweg.core.types import DataType
from thalweg.kernel.operator import Operator
from thalweg.kernel.windows import make_window

NUMBERS = Schema.of(a=DataType.BIGINT)


@pytest.mark.parametrize(
    ("window", "fed", "output"),
    [
        # a tuple of 3 waits for the slide at 4 and is known to leave at the one at 8
        (Range(4, 2), [(3, "x"), (5, "")], ["", "+x[4,8)"]),
        # shorter than its slide: the tuple of 1 is never seen
        (Range(1, 3), [(3, "x@1 y@3")], ["+y[3,6)"]),
        # ends within a batch are emitted at once, others when they come
        (Rows(2), [(4, "a@1 b@2 c@3 d@3"), (5, "e@5")], ["+a[1,3) +b[2,3) +c[3,F) +d[3,F)", "+e[5,F) -c[5,F)"]),
        # of five at once only the last two are ever visible
        (Rows(2), [(1, "a b c d e")], ["+d[1,F) +e[1,F)"]),
        # an instant fed in two batches simply continues
        (Rows(1), [(3, "b"), (3, "a"), (4, "")], ["+b[3,F)", "+a[3,F) -b[3,F)", ""]),
        # half-filled, then two at a time
        (Rows(3, 2), [(1, "a"), (2, "b"), (3, "c"), (4, "d")],
         ["", "+a[2,F) +b[2,F)", "", "+c[4,F) +d[4,F) -a[4,F)"]),
        # tumbling with a gap: the first of each three is never seen
        (Rows(2, 3), [(7, "a@1 b@2 c@3 d@4 e@5 f@6")], ["+b[3,6) +c[3,6) +e[6,F) +f[6,F)"]),
        # per key, and what ends early ends where the range would have ended it
        (PartitionedRows((0,), 1, Range(4)), [(1, "x"), (2, "y"), (3, "x")], ["+x[1,5)", "+y[2,6)", "+x[3,7) -x[3,5)"]),
        # the range has ended it already
        (PartitionedRows((0,), 1, Range(2)), [(1, "x"), (9, "x")], ["+x[1,3)", "+x[9,11)"]),
        # two wait for the slide at 4; the first would leave as it enters
        (PartitionedRows((0,), 1, Range(4, 4)), [(2, "x@1"), (3, "x"), (4, "")], ["", "", "+x[4,8)"]),
    ],
)  # fmt: skip
def test_over_a_base_stream(window: Window, fed: list[tuple[int, str]], output: list[str]) -> None:
    assert drawn_by_hand(window, fed, derived=False) == output


def test_an_open_instant_is_redone_from_the_state_before_it() -> None:
    # ROWS 2 over a derived stream: within an instant the rows' own order counts, whatever order they come in.
    #   clock   3     5     5     5     6
    #   fed     +a    +m    +b    -m    +c
    #   shows   a     a m   b m   a b   b c
    fed = [(3, "a"), (5, "m"), (5, "b"), (5, "-m"), (6, "c")]
    output = ["+a[3,F)", "+m[5,F)", "+b[5,F) -a[5,F)", "+a[5,F) -m[5,F)", "+c[6,F) -a[6,F)"]
    assert drawn_by_hand(Rows(2), fed, derived=True) == output


def test_what_comes_and_goes_within_a_batch_is_not_emitted() -> None:
    fed = [(5, "-b@3 a@3 b@3 a@3 c"), (5, "d -d"), (5, "c c -c")]
    assert drawn_by_hand(Rows(4), fed, derived=True) == ["+a[3,F) +a[3,F) +c[5,F)", "", "+c[5,F)"]


def _stored(operator: Operator, clock: Sequence[Instant], values: Sequence[int]) -> list[int]:
    """How much is stored after each of some arrivals, one per batch."""
    sizes = []
    for now, value in zip(clock, values, strict=True):
        operator.process([Batch.of_arrivals([np.array([value])], np.array([now]))], now)
        sizes.append(operator.stored)
    return sizes


@pytest.mark.parametrize(
    ("window", "derived", "sizes"),
    [
        (Range(9), False, [0, 0, 0, 0, 0]),  # ends are known: nothing to keep
        (Range(9, 4), False, [1, 2, 3, 0, 1]),
        (Rows(2), False, [1, 2, 2, 2, 2]),
        (Rows(3, 2), False, [1, 2, 3, 3, 4]),  # three in the window, and the odd one that waits
        (Rows(2), True, [1, 2, 3, 3, 3]),  # what the open instant displaces is still needed to redo it
        (PartitionedRows((0,), 1), False, [1, 2, 2, 2, 2]),
        (ValueRange(0, 2, DataType.BIGINT), False, [1, 1, 1, 2, 3]),
    ],
)
def test_state(window: Window, derived: bool, sizes: list[int]) -> None:
    operator = make_window(window, NUMBERS, StringPool(), dated=False, derived=derived)
    assert _stored(operator, range(1, 6), [1, 3, 1, 3, 3]) == sizes


def test_queues_give_up_what_the_range_has_ended() -> None:
    # Every tuple has a key of its own, so the count bounds nothing: 10 are alive, the rest waits to be cleared.
    window = PartitionedRows((0,), 5, Range(10))
    operator = make_window(window, NUMBERS, StringPool(), dated=False, derived=False)
    assert max(_stored(operator, range(2000), range(2000))) < 200


def test_a_window_that_no_operator_runs_is_refused() -> None:
    class Whim(BaseWindow):
        def contents(self, arrivals: Sequence[Arrival], t: Instant) -> list[Arrival]:
            return []

        def expiry(self, ts: Instant) -> Instant:
            return FOREVER

        def boundaries(self, ts: Instant) -> tuple[Instant, ...]:
            return ()

        def cql(self, names: Sequence[str], clock: Clock) -> str:
            return "[WHIM]"

    with pytest.raises(AssertionError, match=r"unreachable.*Whim"):
        make_window(Whim(), NUMBERS, StringPool(), dated=False, derived=False)  # type: ignore[arg-type]
