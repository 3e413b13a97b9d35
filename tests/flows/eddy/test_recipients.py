"""Would catch results that go to other queries than their lineage says, marked or listed, in pieces or as a whole."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from thalweg.flows.eddy.bits import Words, bitmap
from thalweg.flows.eddy.recipients import Listed, Marked, Recipients, recipients_of, together


def drawn(results: int, bits: int, share: float, seed: int = 1) -> tuple[Words, list[tuple[int, int]]]:
    """Lineage, and the pairs of bits and results that it stands for."""
    has = np.random.default_rng(seed).random((results, bits)) < share
    lineage = np.array([bitmap(np.flatnonzero(row), 3) for row in has], dtype=np.uint64).reshape(results, 3)
    return lineage, [
        (bit, result) for bit, result in zip(*(where.tolist() for where in np.nonzero(has.T)), strict=True)
    ]


def pairs_of(found: Recipients) -> list[tuple[int, int]]:
    if isinstance(found, Listed):
        return sorted(zip(found.bits.tolist(), found.results.tolist(), strict=True))
    return [(bit, result) for bit, results in found.by_bit() for result in results.tolist()]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.4, 1.0])
def test_marked_and_listed_recipients_are_the_same(share: float) -> None:
    lineage, pairs = drawn(50, 190, share)
    for found in (Marked(lineage), Marked(lineage).listed()):
        assert pairs_of(found) == pairs and len(found) == len(pairs)
        bits, counts = found.counts()
        assert dict(zip(bits.tolist(), counts.tolist(), strict=True)) == Counter(bit for bit, _ in pairs)
        listed = found.listed()
        assert pairs_of(listed) == pairs
        assert listed.results.tolist() == sorted(listed.results.tolist())


def test_results_that_few_get_are_listed() -> None:
    assert isinstance(recipients_of(drawn(500, 190, 0.3)[0], 190), Marked)
    assert isinstance(recipients_of(drawn(500, 190, 0.01)[0], 190), Listed)
    assert isinstance(recipients_of(drawn(500, 2, 0.5)[0], 2), Marked)  # most bits are nobody's


@pytest.mark.parametrize("shares", [(0.4, 0.5), (0.4, 0.01), (0.01, 0.0, 0.02), (0.3,)])
def test_pieces_one_behind_the_other(shares: tuple[float, ...]) -> None:
    pieces, expected, begin = [], list[tuple[int, int]](), 0
    for seed, share in enumerate(shares):
        lineage, pairs = drawn(40 + seed, 190, share, seed)
        pieces.append((recipients_of(lineage, 190), len(lineage)))
        expected += [(bit, begin + result) for bit, result in pairs]
        begin += len(lineage)
    assert pairs_of(together(pieces)) == sorted(expected)
