"""Would catch a change that is lost or emitted twice because a task failed in mid-stage and was run again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from faults.disturbed import repeated
from faults.killing import difference
from faults.program import expected, last_answer, read_answer, read_changes
from runtime.spark.session import environment

ROWS, PER_BATCH = 450, 150


def test_tasks_that_raise_once_are_run_again_and_sinks_hold_each_change_once(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "faults.program", tmp_path, "--master", "local[2,4]", "--disturb", "raise",
         "--rows", str(ROWS), "--per-batch", str(PER_BATCH)],
        env=environment(), capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    again = {tuple(map(int, step.split("-"))) for step in repeated(tmp_path / "disturbed")}
    assert {stage for _, stage, _ in again} == {0, 1} and len({batch for batch, _, _ in again}) > 1
    wanted = expected(ROWS)
    assert difference(wanted, read_changes(tmp_path)) == ""
    assert read_answer(tmp_path) == last_answer(wanted)
