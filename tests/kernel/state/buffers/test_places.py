"""Would catch a place given to two tuples, a tuple found after it has left, or places that grow with time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies.effort import examples
from thalweg.kernel.state.buffers.places import PlacedTuples
from thalweg.kernel.tuning import DEFAULT, Tuning

STEPS = st.lists(st.tuples(st.integers(0, 5), st.sets(st.integers(0, 40), max_size=6)), max_size=12)


@examples(100)
@given(steps=STEPS)
def test_against_a_dictionary(steps: list[tuple[int, set[int]]]) -> None:
    kept, model, number = PlacedTuples([np.int64], Tuning(reserved_places=1)), dict[int, int](), 0
    for count, leaving in steps:
        new = np.arange(number, number + count)
        given_ = kept.settle(new, [new * 10]).tolist()
        model |= dict(zip(new.tolist(), given_, strict=True))
        assert len(set(model.values())) == len(model), "a place for each"
        asked = np.array(sorted(leaving), dtype=np.int64)
        found, known = kept.find(asked)
        assert asked[known].tolist() == sorted(leaving & set(model))
        assert found[known].tolist() == [model[n] for n in asked[known].tolist()]
        assert kept.read(found[known])[0].tolist() == (asked[known] * 10).tolist()
        kept.vacate(found[known])
        model = {n: place for n, place in model.items() if n not in leaving}
        number += count
        assert len(kept) == len(model)


def test_places_are_about_as_many_as_tuples() -> None:
    kept = PlacedTuples([np.int64])
    for at in range(0, 10_000, 10):
        kept.settle(np.arange(at, at + 10), [np.arange(10)])
        kept.vacate(kept.find(np.arange(at - 90, at - 80))[0] if at >= 90 else np.empty(0, dtype=np.int64))
    tree = kept.snapshot()
    assert len(kept) == 90 and len(tree["_numbers"]) <= 256
    assert len(tree["_known_numbers"]) <= 2 * DEFAULT.reserved_places
