"""Inputs that keep the contract of core/batch.py, and the check that every operator's test ends with.

A feed is a list of steps: the clock after the step, and for each input its tuples. Tuples come from drawn
lives: a row with a start and an expiry, perhaps deleted early, or away for a while. Ends are known on arrival (direct)
or sent later as a negative tuple (NT). Steps are cut anywhere, also inside an instant; in some only time passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import note
from hypothesis import strategies as st

from strategies.catalog import VALUES
from strategies.dice import Dice
from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import from_lane, to_lane
from thalweg.core.rows import Dated, Row
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.operator import Operator

_LIFETIMES = [3, 1, 2, 5, 9, 9]
_GAPS = [1, 0, 0, 2, 1, 4]


class Signed(NamedTuple):
    """One tuple of a batch."""

    row: Row
    start: Instant
    end: Instant
    sign: int
    ts: Instant
    exp: Instant


class Step(NamedTuple):
    """The tuples of each input, then the clock stands at `now`."""

    now: Instant
    inputs: tuple[list[Signed], ...]


# What was in input i at t; and the right output at t, given that.
Contents = Callable[[int, Instant], list[Dated]]
Model = Callable[[Contents, Instant], list[Dated]]


@st.composite
def feeds(draw: st.DrawFn, *schemas: Schema, direct: bool = False, most: int = 10) -> list[Step]:
    """Steps for inputs of these schemas; `direct` means that every end is known on arrival (no negative tuples)."""
    dice = Dice(draw)
    fed: list[tuple[int, Signed]] = []
    start = 0
    for _ in range(dice.number(0, most)):
        start += dice.pick(_GAPS)
        i = dice.number(0, len(schemas) - 1)
        fed += [(i, signed) for signed in _life(dice, schemas[i], start, direct)]
    fed.sort(key=lambda tuple_: tuple_[1].start)  # stable: a negative tuple stays behind its positive one
    return _cut(dice, len(schemas), fed)


def _life(dice: Dice, schema: Schema, start: Instant, direct: bool) -> list[Signed]:
    row = tuple(dice.pick(VALUES[f.type]) for f in schema)
    ts = start - dice.pick([0, 0, 0, 1, 2])  # a window that slides in steps shows a tuple later
    exp = FOREVER if dice.chance(5) else start + dice.pick(_LIFETIMES)
    if direct:
        return [Signed(row, start, exp, 1, ts, exp)]
    fate = dice.pick(["known", "known", "open", "deleted", "open deleted", "away"])
    end = FOREVER if "open" in fate else exp
    born = Signed(row, start, end, 1, ts, exp)
    leave = start + dice.number(0, 6)
    if "deleted" in fate and leave < exp:
        return [born, born._replace(start=leave, sign=-1)]
    if fate == "away" and leave + 2 < exp:
        return [born, born._replace(start=leave, end=leave + 2, sign=-1)]
    if end != exp:
        return [born, born._replace(start=exp, sign=-1)]
    return [born]


def _cut(dice: Dice, width: int, fed: list[tuple[int, Signed]]) -> list[Step]:
    steps: list[Step] = []
    inputs: tuple[list[Signed], ...] = tuple([] for _ in range(width))
    for place, (i, signed) in enumerate(fed):
        inputs[i].append(signed)
        last = place == len(fed) - 1
        if last or dice.chance(3):
            until = signed.start + 3 if last else fed[place + 1][1].start
            steps.append(Step(dice.number(signed.start, until), inputs))
            inputs = tuple([] for _ in range(width))
            if dice.chance(4):
                steps.append(_silence(width, dice.number(steps[-1].now, until)))
    return [*steps, _silence(width, (steps[-1].now if steps else 0) + dice.pick([0, 1, 12]))]


def _silence(width: int, now: Instant) -> Step:
    """Only time passes."""
    return Step(now, tuple([] for _ in range(width)))


def check(
    make: Callable[[StringPool], Operator],
    schemas: Sequence[Schema],
    output: Schema,
    steps: Sequence[Step],
    model: Model,
    dated: bool = True,
) -> Operator:
    """After each step the output so far is the model's at every instant up to the clock; the operator is returned.

    A twin is taken down and set up anew before every step, and must say the same; so must another one, to which every
    batch comes in pieces, if the operator works in pieces.
    """
    pool = StringPool()
    operator = make(pool)
    twins_pool = StringPool()
    twin = make(twins_pool)
    apart_pool = StringPool()
    apart = make(apart_pool)
    fed: list[list[Signed]] = [[] for _ in schemas]
    emitted: list[Signed] = []
    before = -3  # before anything drawn
    for number, step in enumerate(steps):
        for all_, new in zip(fed, step.inputs, strict=True):
            all_.extend(new)
        batches = [to_batch(new, s, pool, dated) for new, s in zip(step.inputs, schemas, strict=True)]
        result = from_batch(operator.process(batches, step.now), output, pool, dated)
        note(f"now {step.now}: {step.inputs} -> {result}")
        if operator.KEPT:
            twin, twins_pool = restarted(make, twin, twins_pool)
            batches = [to_batch(new, s, twins_pool, dated) for new, s in zip(step.inputs, schemas, strict=True)]
            assert Counter(from_batch(twin.process(batches, step.now), output, twins_pool, dated)) == Counter(result)
            assert twin.stored == operator.stored
        if operator.makes_pieces or operator.takes_pieces:
            apart, apart_pool = restarted(make, apart, apart_pool)
            batches = [to_batch(new, s, apart_pool, dated) for new, s in zip(step.inputs, schemas, strict=True)]
            given = list(apart.pieces([pieces_of(batch, 1 + number % 3) for batch in batches], step.now))
            assert Counter(from_batch(Batch.concat(given), output, apart_pool, dated)) == Counter(result)
        assert all(before <= s.start <= step.now and s.start < s.end and s.sign in (-1, 1) for s in result), result
        emitted += result
        for t in range(before, step.now + 1):  # what is past stays as it was: nothing fed or emitted starts there
            wanted = Counter(model(lambda i, at: contents(fed[i], at), t))
            got = Counter(contents(emitted, t))
            assert got == (wanted if dated else Counter(_undated(wanted.elements()))), f"at {t} after {step.now}"
        before = step.now
    return operator


def pieces_of(batch: Batch, size: int) -> list[Batch]:
    """A batch in pieces of a size; of an empty batch one empty piece."""
    return [batch.take(slice(begin, begin + size)) for begin in range(0, max(1, len(batch)), size)]


def restarted(
    make: Callable[[StringPool], Operator], operator: Operator, pool: StringPool
) -> tuple[Operator, StringPool]:
    """An operator made anew, with a pool of its own, that goes on from a snapshot."""
    fresh_pool = StringPool()
    fresh = make(fresh_pool)
    fresh_pool.restore(pool.snapshot())
    fresh.restore(operator.snapshot())
    return fresh, fresh_pool


def contents(tuples: Iterable[Signed], t: Instant) -> list[Dated]:
    """Q(t) of the tuples that were fed."""
    bag: Counter[Dated] = Counter()
    for row, start, end, sign, ts, exp in tuples:
        if start <= t < end:
            bag[Dated(row, ts, exp)] += sign
    assert min(bag.values(), default=0) >= 0, f"a row is there a negative number of times at {t}: {bag}"
    return list(bag.elements())


def to_batch(tuples: Sequence[Signed], schema: Schema, pool: StringPool, dated: bool = True) -> Batch:
    """Tuples as a batch."""
    columns = (pa.array([s.row[i] for s in tuples], f.type.arrow) for i, f in enumerate(schema))
    lanes = tuple(to_lane(c, f.type, pool) for c, f in zip(columns, schema, strict=True))
    start, end, ts, exp = (np.array([s[i] for s in tuples], dtype=np.int64) for i in (1, 2, 4, 5))
    signs = np.array([s.sign for s in tuples], dtype=np.int8)
    return Batch(lanes, start, end, signs, Dates(ts, exp) if dated else None)


def from_batch(batch: Batch, schema: Schema, pool: StringPool, dated: bool = True) -> list[Signed]:
    """A batch as tuples; without dates they are all dated 0."""
    assert (batch.dates is not None) == dated and len(batch.columns) == len(schema)
    arrays = [from_lane(c, f.type, pool) for c, f in zip(batch.columns, schema, strict=True)]
    in_micros = (DataType.TIMESTAMP, DataType.INTERVAL)
    values = [
        (a.cast(pa.int64()) if f.type in in_micros else a).to_pylist() for a, f in zip(arrays, schema, strict=True)
    ]
    rows = list(zip(*values, strict=True)) if values else [()] * len(batch)
    zero = np.zeros(len(batch), dtype=np.int64)
    dates = batch.dates or Dates(zero, zero)
    lanes = (batch.start, batch.end, batch.sign, dates.ts, dates.exp)
    return [Signed(row, *rest) for row, *rest in zip(rows, *(lane.tolist() for lane in lanes), strict=True)]


def _undated(tuples: Iterable[Dated]) -> list[Dated]:
    return [Dated(d.row, 0, 0) for d in tuples]
