"""Kills a program's driver, its Java, or one of its Python workers at random moments, and starts it again.

    python -m faults.killing [--runs 10] [--seed 1]      (make faults)

In the end nothing may be lost and nothing may be there twice.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from faults.processes import java, kill, workers
from faults.program import Change, expected, read_changes

KINDS = ("driver", "java", "worker")
MOST_STARTS = 12


@dataclass
class Attack:
    """A kind of process that is to die, some moment after so many batches have been done."""

    kind: str
    batch: int
    delay: float


@dataclass
class Outcome:
    """How a program fared."""

    starts: int = 0
    killed: list[str] = field(default_factory=list)
    seconds: float = 0.0


Victims = Callable[[str, int], list[int]]  # the processes of a kind, given the driver


def local_victims(kind: str, driver: int) -> list[int]:
    """On a local Spark all others descend from the driver."""
    return {"driver": lambda: [driver], "java": lambda: java(driver), "worker": lambda: workers(driver)}[kind]()


def attacks(draw: random.Random, batches: int, kinds: Sequence[str] = KINDS) -> list[Attack]:
    """Each kind once, in any order, at any moment."""
    moments = sorted(draw.sample(range(batches - 1), len(kinds)))
    order = draw.sample(kinds, len(kinds))
    return [Attack(kind, batch, draw.random()) for kind, batch in zip(order, moments, strict=True)]


def run_killed(
    folder: Path, arguments: Sequence[str], plan: list[Attack], draw: random.Random, victims: Victims = local_victims
) -> Outcome:
    """Start the program until it comes to its end, while the attacks are carried out."""
    outcome, began = Outcome(), time.monotonic()
    while outcome.starts < MOST_STARTS:
        outcome.starts += 1
        with (folder / f"start-{outcome.starts}.log").open("wb") as log:
            program = subprocess.Popen(
                [sys.executable, "-m", "faults.program", str(folder), *arguments],
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        try:
            _attack_until_it_ends(program, folder, plan, draw, victims, outcome)
        finally:
            if program.poll() is None or outcome.starts == MOST_STARTS:
                _end_group(program.pid)
        if program.returncode == 0:
            outcome.seconds = time.monotonic() - began
            return outcome
    raise AssertionError(f"{MOST_STARTS} starts were not enough, see {folder}")


def _attack_until_it_ends(
    program: subprocess.Popen[bytes],
    folder: Path,
    plan: list[Attack],
    draw: random.Random,
    victims: Victims,
    outcome: Outcome,
) -> None:
    while program.poll() is None:
        # Worker processes are there as soon as this start has begun to work.
        if plan and batches_done(folder) >= plan[0].batch and victims("worker", program.pid):
            time.sleep(plan[0].delay)
            if program.poll() is None and kill(victims(plan[0].kind, program.pid), draw) is not None:
                outcome.killed.append(f"{plan[0].kind} in batch {batches_done(folder)}")
                plan.pop(0)
        time.sleep(0.02)


def batches_done(folder: Path) -> int:
    """How many batches Spark has committed."""
    commits = folder / "checkpoint" / "spark" / "commits"
    return 1 + max((int(path.name) for path in commits.glob("*") if path.name.isdecimal()), default=-1)


def _end_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def difference(wanted: Counter[Change], got: Counter[Change]) -> str:
    """What is missing and what is too much; nothing if they are equal."""
    if wanted == got:
        return ""
    missing = [change for change, count in wanted.items() if got.get(change, 0) != count]
    extra = [change for change in got if change not in wanted]
    return f"{len(missing)} changes are missing or not as often as they should be, as {missing[:2]}; {extra[:2]} extra"


def main() -> None:
    """As a command; ends with an error if any answer was wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rows", type=int, default=3_000)
    parser.add_argument("--per-batch", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    arguments = ["--rows", str(options.rows), "--per-batch", str(options.per_batch)]
    wanted, bad = expected(options.rows), 0
    with tempfile.TemporaryDirectory(prefix="thalweg-faults-") as top:
        whole = Path(top) / "undisturbed"
        whole.mkdir()
        outcome = run_killed(whole, arguments, [], random.Random(0))
        problem = difference(wanted, read_changes(whole))
        print(f"undisturbed: {len(wanted)} changes in {outcome.seconds:.0f} s; {problem or 'right'}", flush=True)
        for number in range(options.runs):
            draw = random.Random(options.seed * 1_000 + number)
            folder = Path(top) / f"run-{number}"
            folder.mkdir()
            # A local Spark either gives up at the first failure of a task, or tries it again.
            master = draw.choice(["local[2]", "local[2,4]"])
            plan = attacks(draw, options.rows // options.per_batch)
            outcome = run_killed(folder, [*arguments, "--master", master], plan, draw)
            problem = difference(wanted, read_changes(folder)) or difference(read_changes(whole), read_changes(folder))
            bad += bool(problem)
            print(
                f"run {number} on {master}: killed {', '.join(outcome.killed)}; {outcome.starts} starts,"
                f" {outcome.seconds:.0f} s; {problem or 'right'}",
                flush=True,
            )
    sys.exit(f"{bad} of {options.runs} runs gave a wrong answer" if bad else None)


if __name__ == "__main__":
    main()
