"""Runs: tuples of lanes that are never written to, so that they can be shared without copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Run = tuple[npt.NDArray[Any], ...]


def join_runs(runs: Sequence[Run]) -> Run:
    """The runs, concatenated."""
    return runs[0] if len(runs) == 1 else tuple(np.concatenate(lanes) for lanes in zip(*runs, strict=True))


def with_run(runs: Sequence[Run], run: Run) -> list[Run]:
    """A log with one more run at its end.

    The youngest runs are merged geometrically: runs stay few, and a row is copied a logarithmic number of times.
    """
    grown = [*runs, run]
    while len(grown) > 1 and len(grown[-2][0]) <= 2 * len(grown[-1][0]):
        grown[-2:] = [join_runs(grown[-2:])]
    return grown
