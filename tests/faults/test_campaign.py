"""Would catch a fault that loses, doubles or falsifies an answer, and a campaign that would not notice it."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faults.campaign import Summary, campaign, run_campaign
from faults.drawn import QUERIES, query_case
from faults.drawn_flow import flow_case
from faults.histories import Past
from faults.mishaps import DAMAGES, DRIVER_DEATHS, TO_TASKS, Fault, Kind, damage
from strategies.effort import rounds
from thalweg.runtime.distributed.checkpoint.manifest import Manifest
from thalweg.runtime.distributed.checkpoint.store import ShardStore
from thalweg.runtime.distributed.worker import step
from thalweg.runtime.distributed.worker.program import StepResult

PARTS = 4  # of the campaign, which may run at once
FAULTS = rounds(300)
SEED = 0 if os.environ.get("CI") else random.SystemRandom().randrange(1 << 40)  # CI draws the same ones each time


@pytest.mark.parametrize("part", range(PARTS))
def test_no_fault_is_silent(part: int) -> None:
    summary = run_campaign(SEED + part * 1_000_000, faults=-(-FAULTS // PARTS))
    print(summary.shown())
    assert summary.failed == []
    assert summary.faults.total() >= FAULTS // PARTS


def test_a_seed_repeats_a_history() -> None:
    def ended(seed: int) -> tuple[Any, ...]:
        summary = run_campaign(seed, histories=1)
        return summary.faults, summary.ends, summary.fell_back

    assert ended(11) == ended(11)
    with campaign() as running:
        assert running.drawn(11)[3] == running.drawn(11)[3] != running.drawn(12)[3]


def test_every_kind_of_fault_can_strike() -> None:
    """One history with all faults that leave a run whole, each in its place."""
    tasks = [Fault(kind, 1 + n % 4, n % 2, n % 3, 5 + n) for n, kind in enumerate(TO_TASKS)]
    driver = [Fault(kind, 1 + n, 0, 0, n) for n, kind in enumerate(DRIVER_DEATHS.values())]
    others = [Fault(kind, 4, 0, 0, 0) for kind in (Kind.TAKE_OVER, Kind.RESHARD, Kind.CLOCK_BACK, Kind.RE_READ)]
    faults = [*tasks, *driver, *others]
    with campaign() as running:
        past = running._past(query_case("two stages", 0), faults, "all")
        assert past.run() == "done"
        assert past.struck.keys() == set(Kind) - set(DAMAGES)


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_state_is_fallen_back_from(kind: Kind) -> None:
    with campaign() as running:
        past = running._past(query_case("groups", 0), [Fault(kind, 4, 0, 0, 1)], "damage")
        assert past.run() == "done"
        assert past.fell_back == 1


@pytest.mark.parametrize("kind", [Kind.OUTPUT_LOST, Kind.CUT_SHORT_AFTER])
def test_a_flow_whose_steps_are_run_again_in_their_process_stays_right(kind: Kind) -> None:
    """A flow's program is used again: what an attempt that does not count has left in it must not count later."""
    faults = [Fault(kind, batch, 0, shard, 1) for batch in range(5) for shard in range(3)]
    with campaign() as running:
        running.drawn = lambda seed: ("flow", seed, flow_case(seed), faults)  # type: ignore[method-assign]
        for seed in (3, 11):
            running.run(seed)
    assert running.summary.failed == []


# -- a campaign over something that is broken must say so


def failures(name: str, *faults: Fault) -> list[str]:
    """What a campaign says about one history with these faults."""
    with campaign() as running:
        running.drawn = lambda seed: (name, 0, query_case(name, 0), list(faults))  # type: ignore[method-assign]
        running.run(0)
    return running.summary.failed


def test_an_answer_that_is_emitted_twice_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = step.run_step

    def twice(*given: Any, **options: Any) -> StepResult:
        result = plain(*given, **options)
        return StepResult(result.messages, result.parts * 2)

    monkeypatch.setattr(step, "run_step", twice)
    assert "the answer at" in failures("groups")[0]


def test_a_manifest_that_is_lost_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Manifest.write

    def write(self: Manifest, folder: Path, state: Any) -> None:
        if self.batch != 2:
            plain(self, folder, state)

    monkeypatch.setattr(Manifest, "write", write)
    assert "no fault explains" in failures("groups")[0]


def broken_weights(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ShardStore, "is_outweighed", lambda self, batch, weight: False)


def broken_fence(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(step, "check_fence", lambda checkpoint, fence: None)
    patch.setattr(Past, "_batch", _without_lease(Past._batch))


def _without_lease(plain: Callable[..., None]) -> Callable[..., None]:
    class Blind:
        def __init__(self, lease: Any) -> None:
            self.fence = lease.fence

        def check(self) -> None:
            """Sees no other driver."""

    return lambda self, batch, layouts, lease: plain(self, batch, layouts, Blind(lease))


@pytest.mark.parametrize(
    ("breaks", "faults"),
    [
        (broken_weights, [Fault(Kind.CUT_SHORT_AFTER, batch, 0, shard, 0) for batch in range(5) for shard in range(3)]),
        (broken_fence, [Fault(Kind.TAKE_OVER, 2, 0, 0, 0)]),
    ],
)
def test_a_broken_protocol_is_seen(
    breaks: Callable[[pytest.MonkeyPatch], None], faults: list[Fault], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert failures("two stages", *faults) == []
    breaks(monkeypatch)
    assert failures("two stages", *faults) != []


def test_a_failure_names_its_seed_and_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(self: Past) -> str:
        raise OSError("raw")

    monkeypatch.setattr(Past, "run", wrong)
    said: list[str] = []
    summary = run_campaign(5, histories=1, say=said.append)
    assert isinstance(summary, Summary)
    assert "seed 5" in said[0]
    assert "--seed 5" in said[0]
    assert "batch" in said[0]


def test_damages_leave_sparks_files_alone(tmp_path: Path) -> None:
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark" / "0").touch()
    assert damage(tmp_path, Kind.DELETE, 0, 0) is None
    assert set(QUERIES) >= {"two stages", "groups"}
