"""Streams fed to a window operator in batches, drawn or written by hand, and what it must show at every instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
from hypothesis import strategies as st

from kernel.operators.feeds import restarted
from strategies.dice import Dice
from strategies.effort import examples
from thalweg.algebra.windows import Window
from thalweg.core.batch import Batch
from thalweg.core.lanes import from_lane, is_null, to_lane
from thalweg.core.rows import Arrival, Dated, Row, Value, row_key
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.operator import Operator
from thalweg.kernel.windows import make_window

EXAMPLES = examples(25)
SCHEMA = Schema.of(k=DataType.BIGINT, x=DataType.DOUBLE, name=DataType.STRING)
VALUES: list[Sequence[Value]] = [[1, 0, -3, 2, 4, 6, None], [0.5, -0.0, 0.0, 2.0, None], ["a", "é", "B", "", None]]


class Change(NamedTuple):
    """A tuple of a stream, or with sign -1 one that is taken back."""

    sign: int
    ts: Instant
    row: Row


Step = tuple[Instant, list[Change]]


class Lived(NamedTuple):
    """A signed interval of the output."""

    sign: int
    start: Instant
    end: Instant
    tuple: Dated


@st.composite
def feeds(draw: st.DrawFn, corrected: bool, values: Sequence[Sequence[Value]] = VALUES) -> list[Step]:
    """Batches with ties, bursts, silences and cuts inside instants; `corrected` ones also take tuples back."""
    dice = Dice(draw)
    now = dice.number(-3, 3)
    steps: list[Step] = []
    standing: list[Change] = []  # what was fed for the instant `now` and not taken back
    for _ in range(dice.number(1, 8)):
        before, now = now, now + dice.pick([1, 0, 0, 2, 5, 13])
        batch = [_arrival(dice, (before, now), values) for _ in range(dice.number(0, 6))]
        if corrected:
            standing += batch
            back = [standing.pop(dice.number(0, len(standing) - 1)) for _ in range(dice.number(0, 3)) if standing]
            batch = draw(st.permutations(batch + [change._replace(sign=-1) for change in back]))
            standing = [change for change in standing if change.ts == now]
        steps.append((now, batch))
    return steps


def _arrival(dice: Dice, between: tuple[Instant, Instant], values: Sequence[Sequence[Value]]) -> Change:
    return Change(+1, dice.number(*between), tuple(dice.pick(column) for column in values))


def check(window: Window, schema: Schema, steps: list[Step], dated: bool, derived: bool) -> None:
    """The operator shows the window's contents at every instant, and at the clock after every batch.

    A twin is taken down and set up anew before every batch, and must say the same.
    """

    def make(own_pool: StringPool) -> Operator:
        return make_window(window, schema, own_pool, dated, derived)

    pool, twins_pool = StringPool(), StringPool()
    operator, twin = make(pool), make(twins_pool)
    output: list[Lived] = []
    fed: list[Change] = []
    before = steps[0][0] - 100
    for now, batch in steps:
        gained = lived(operator, schema, pool, (now, batch), dated)
        twin, twins_pool = restarted(make, twin, twins_pool)
        assert Counter(lived(twin, schema, twins_pool, (now, batch), dated)) == Counter(gained)
        assert twin.stored == operator.stored
        assert all(before <= one.start <= now and one.start < one.end for one in gained)
        output += gained
        fed += batch
        assert shown(output, now, dated) == expected(window, fed, now, dated, derived)
        before = now
    first = min((t.ts for t in fed), default=before)
    for t in range(first - 1, before + 1):
        assert shown(output, t, dated) == expected(window, fed, t, dated, derived), f"at {t}"


def lived(operator: Operator, schema: Schema, pool: StringPool, step: Step, dated: bool) -> list[Lived]:
    """What the operator makes of one batch."""
    now, fed = step
    columns = [
        to_lane(pa.array([t.row[i] for t in fed], field.type.arrow), field.type, pool) for i, field in enumerate(schema)
    ]
    signs = pa.array([t.sign for t in fed], pa.int8()).to_numpy()
    arrived = Batch.of_arrivals(columns, pa.array([t.ts for t in fed], pa.int64()).to_numpy(), dated)
    result = operator.process([Batch(arrived.columns, arrived.start, arrived.end, signs, arrived.dates)], now)
    assert (result.dates is not None) is dated
    assert result.sign.dtype == "int8"
    rows = list(zip(*(_values(c, f.type, pool) for c, f in zip(result.columns, schema, strict=True)), strict=True))
    ts, exp = (result.start, result.end) if result.dates is None else (result.dates.ts, result.dates.exp)
    tuples = [Dated(row, int(a), int(b)) for row, a, b in zip(rows, ts, exp, strict=True)]
    lives = zip(result.sign.tolist(), result.start.tolist(), result.end.tolist(), tuples, strict=True)
    return [Lived(*one) for one in lives]


def _values(lane: pa.Array, type_: DataType, pool: StringPool) -> list[Value]:
    if type_ is DataType.STRING:
        return list(from_lane(lane, type_, pool).to_pylist())
    return [None if missing else value for value, missing in zip(lane.tolist(), is_null(lane), strict=True)]


def shown(output: list[Lived], t: Instant, dated: bool) -> Counter[Dated | Row]:
    """The bag at t, with dates if there are any; a row that counts less than zero times shows too."""
    bag: Counter[Dated | Row] = Counter()
    for one in output:
        if one.start <= t < one.end:
            bag[one.tuple if dated else one.tuple.row] += one.sign
    return Counter({key: count for key, count in bag.items() if count})


def expected(window: Window, fed: list[Change], t: Instant, dated: bool, derived: bool) -> Counter[Dated | Row]:
    """What the window's definition says, given all changes that were fed."""
    known = [one for one in fed if one.ts <= t]
    taken_back = Counter((one.ts, one.row) for one in known if one.sign < 0)
    left: list[Change] = []
    for one in known:
        if one.sign > 0 and taken_back[one.ts, one.row]:
            taken_back[one.ts, one.row] -= 1
        elif one.sign > 0:
            left.append(one)
    left.sort(key=lambda one: (one.ts, row_key(one.row) if derived else ()))
    contents = window.contents([Arrival(one.ts, seq, one.row) for seq, one in enumerate(left)], t)
    dates = [Dated(a.row, a.ts, window.expiry(a.ts)) for a in contents]
    return Counter(dates if dated else [d.row for d in dates])


def drawn_by_hand(window: Window, fed: Sequence[tuple[Instant, str]], derived: bool) -> list[str]:
    """The output per batch, sorted: `+a[3,F) -b[3,F)`. A batch is a clock and `a b@2 -c`, at the clock if not said."""
    schema, pool = Schema.of(a=DataType.STRING), StringPool()
    operator = make_window(window, schema, pool, dated=False, derived=derived)
    lines = []
    for now, text in fed:
        batch = [_change(word, now) for word in text.split()]
        gained = lived(operator, schema, pool, (now, batch), dated=False)
        lines.append(" ".join(sorted(map(_word, gained))))
    return lines


def _change(word: str, now: Instant) -> Change:
    name, _, ts = word.partition("@")
    return Change(-1 if name.startswith("-") else +1, int(ts or now), (name.lstrip("-"),))


def _word(one: Lived) -> str:
    end = "F" if one.end == FOREVER else one.end
    return f"{'+' if one.sign > 0 else '-'}{one.tuple.row[0]}[{one.start},{end})"
