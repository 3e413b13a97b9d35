"""Would catch a negative tuple that is paired with the wrong positive one, or with one that only has the same hash."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.feeds import Signed, contents, feeds, from_batch, to_batch
from strategies.effort import examples
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER
from thalweg.core.types import DataType
from thalweg.kernel.state.keyed import Keyed

SCHEMA = Schema.of(k=DataType.BIGINT, x=DataType.DOUBLE)


def keyed(codes: Ints, tuples: Batch, hashed: bool) -> Keyed:
    """Tuples sorted by code and hash; without hashes every tuple collides with every other."""
    return Keyed.of(codes, tuples) if hashed else Keyed.with_tiebreak(codes, np.zeros_like(codes), tuples)


def close(tuples: list[Signed], hashed: bool = True) -> list[Signed]:
    pool = StringPool()
    batch = to_batch(tuples, SCHEMA, pool)
    codes = np.where(batch.columns[0] < 0, 0, batch.columns[0])
    return from_batch(keyed(codes, batch, hashed).closed().tuples, SCHEMA, pool)


def signed_tuples(*tuples: tuple[int, int, int, int]) -> list[Signed]:
    """(value, start, end, sign) each."""
    return [Signed((value, 0.5), start, end, sign, 0, 9) for value, start, end, sign in tuples]


@pytest.mark.parametrize("hashed", [True, False])
@examples(60)
@given(data=st.data())
def test_the_bag_stays_the_same_at_every_instant(hashed: bool, data: st.DataObject) -> None:
    steps = data.draw(feeds(SCHEMA, most=14))
    begun = data.draw(st.integers(0, len(steps)))  # what older tuples are deleted is not among these
    tuples = [s for step in steps[begun:] for s in step.inputs[0]]
    older = [s for step in steps[:begun] for s in step.inputs[0]]
    closed = close(data.draw(st.permutations(tuples)), hashed)
    assert len(closed) <= len(tuples) and all(s.start < s.end for s in closed)
    for t in range(steps[-1].now + 10):
        assert sorted(map(str, contents(older + closed, t))) == sorted(map(str, contents(older + tuples, t)))


#   row 1   +[1 ........................   deleted at 4
#   row 1      +[3 .....................   stays
#   row 1         -[4 ..................
def test_first_in_first_out() -> None:
    deleted = signed_tuples((1, 1, FOREVER, 1), (1, 3, FOREVER, 1), (1, 4, FOREVER, -1))
    assert close(deleted) == signed_tuples((1, 1, 4, 1), (1, 3, FOREVER, 1))


#   row 1   -[2 ............   deletes something older
#   row 1      +[3 .........   comes
#   row 1         -[5 ......   and goes
def test_a_negative_tuple_before_all_positive_ones_stays() -> None:
    tuples = signed_tuples((1, 2, FOREVER, -1), (1, 3, FOREVER, 1), (1, 5, FOREVER, -1))
    assert close(tuples) == signed_tuples((1, 2, FOREVER, -1), (1, 3, 5, 1))


def test_a_tuple_deleted_where_it_starts_leaves_nothing() -> None:
    assert close(signed_tuples((1, 2, 9, 1), (1, 2, 9, -1))) == []


def test_ends_values_and_dates_make_a_difference() -> None:
    tuples = signed_tuples((1, 2, 9, 1), (1, 3, 8, -1), (2, 3, 9, -1))
    tuples.append(tuples[0]._replace(start=4, sign=-1, ts=1))
    assert sorted(close(tuples)) == sorted(tuples)
