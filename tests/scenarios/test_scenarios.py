"""Every scenario file on the local engine, fed whole and in pieces.

Catches an answer that is wrong at some instant, a change that is missing, superfluous or dated wrongly, and anything
that depends on how much was read at a time. The expectations were worked out by hand from docs/semantics.md and the
papers; the last test sees to it that each file would notice an engine that lags.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from thalweg.core.rows import Bag, Change
from thalweg.core.time import Instant
from thalweg.scenarios import LocalEngine, Scenario, parse_scenario, run_scenario

FILES = sorted(Path(__file__).parent.glob("*.scenario"))


def read(path: Path) -> Scenario:
    return parse_scenario(path.read_text(encoding="utf-8"), path.name)


ANSWERED = [path for path in FILES if not read(path).refused]


class LaggingEngine(LocalEngine):
    """Shows everything one tick late, as an operator does that expires only when something arrives."""

    def answer(self, query: str, t: Instant) -> Bag:
        return super().answer(query, t - 1)

    def changes(self, query: str) -> list[Change]:
        return [change._replace(t=change.t + 1) for change in super().changes(query)]


@pytest.mark.parametrize("batch_size", [None, 1, 3], ids=["whole", "one by one", "by threes"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_local_engine_gives_what_the_scenario_says(path: Path, batch_size: int | None) -> None:
    mismatches = run_scenario(read(path), LocalEngine(), batch_size)
    assert not mismatches, "\n" + "\n".join(map(str, mismatches))


@pytest.mark.parametrize("path", ANSWERED, ids=lambda path: path.stem)
def test_a_lagging_engine_is_noticed(path: Path) -> None:
    assert run_scenario(read(path), LaggingEngine())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_scenario_says_what_it_is_about(path: Path) -> None:
    about = read(path).about
    assert about.endswith(".")
    assert len(about) > 20
