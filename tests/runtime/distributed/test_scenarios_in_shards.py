"""Every scenario in one, two and five shards.

Would catch a shard that forgets something between batches, emits something twice, or depends on the order in which
messages come: every shard starts from its files in every batch, and every batch is done twice (see `cluster`). In two
shards, tables are copied to every group.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.distributed.shard_engine import ShardEngine
from thalweg.core.errors import ThalwegError
from thalweg.scenarios import Advance, parse_scenario, run_scenario
from thalweg.scenarios.bind import bind_scenario

FILES = sorted((Path(__file__).parents[2] / "scenarios").glob("*.scenario"))

# What a session refuses when it happens cannot be refused here, where the source may be far away and nobody asks: it is
# a side output. A row replaces the one with its key, and a table's change is as of when it becomes known.
NOT_REFUSED = {
    "refused-row-behind-time-that-passed": {"late s": 1},
    "refused-row-out-of-order": {},  # in the same batch as the row that it is behind: it takes its place
    "refused-delete-of-an-unknown-key": {"bad r": 1},
    "refused-update-of-an-unknown-key": {},
    "refused-second-row-with-one-key": {},
    "refused-table-change-behind-the-clock": {},
}


@pytest.mark.parametrize(("shards", "batch_size"), [(1, None), (2, 3), (5, None)], ids=["1", "2, by threes", "5"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_shards_give_what_the_scenario_says(path: Path, shards: int, batch_size: int | None, tmp_path: Path) -> None:
    scenario = parse_scenario(path.read_text(encoding="utf-8"), path.name)
    engine = ShardEngine(shards, tmp_path, copies_tables=shards == 2)
    if path.stem in NOT_REFUSED:
        engine.prepare(scenario.cql, scenario.name)
        bound = bind_scenario(scenario)
        engine.feed([*bound.events, Advance(bound.last or 0)])
        assert engine.side_output_counts() == NOT_REFUSED[path.stem]
        return
    mismatches = run_scenario(scenario, engine, batch_size)
    assert not mismatches, "\n" + "\n".join(map(str, mismatches))


def test_a_refusal_comes_before_anything_runs(tmp_path: Path) -> None:
    path = next(path for path in FILES if path.stem == "refused-unknown-column")
    scenario = parse_scenario(path.read_text(encoding="utf-8"), path.name)
    with pytest.raises(ThalwegError, match="itme"):
        ShardEngine(2, tmp_path).prepare(scenario.cql, scenario.name)
