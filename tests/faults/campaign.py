"""The fault campaign: many short histories of queries, each with faults that are drawn from a seed.

    python -m faults.campaign                          10,000 faults
    python -m faults.campaign --seed 7 --histories 1   history 7 again, exactly as it was

History n of seed s is history 0 of seed s + n. After each the answer at every instant is the reference's, or the run
has ended with an error that names the damaged file. A history that fails is printed with its seed and its faults.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

from faults.attempts import simulated_disk
from faults.drawn import BATCHES, QUERIES, Case, Emitted, query_case
from faults.drawn_flow import FLOW, flow_case
from faults.histories import DifferenceError, Past
from faults.mishaps import Fault, Kind, drawn_faults

FAULTS = 10_000  # of a campaign, unless asked otherwise
MOST_FAULTS = 9  # of a history
INPUTS = 15  # for each query
IN_MEMORY = Path("/dev/shm")


@dataclass
class Summary:
    """What a campaign has seen."""

    histories: int = 0
    faults: Counter[Kind] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    fell_back: int = 0
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def shown(self) -> str:
        """A table for people."""
        figures: list[tuple[str, object]] = [
            ("histories", self.histories),
            ("faults", self.faults.total()),
            *((f"  {kind.value}", self.faults[kind]) for kind in Kind),
            ("histories with the right answer", self.ends["done"]),
            ("went back by one batch", self.fell_back),
            ("refused with the name of a file", self.ends["refused"]),
            ("differences", len(self.failed)),
            ("seconds", round(self.seconds, 1)),
        ]
        return "\n".join(f"{name:<52}{figure:>10}" for name, figure in figures)


class Campaign:
    """Runs histories in a folder; right answers are kept, for many histories share them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._right: dict[tuple[str, int], list[Emitted]] = {}
        self.summary = Summary()

    def run(self, seed: int) -> None:
        """One history; a failure is noted."""
        name, number, case, faults = self.drawn(seed)
        past: Past | None = None
        try:
            right = self._right_answer(name, number, case)
            past = self._past(case, faults, f"history {seed}")
            end = past.run()
            for batch, emitted in past.written.items():
                if emitted != right[batch]:
                    raise DifferenceError(
                        f"batch {batch} has given {dict(emitted)}, but must give {dict(right[batch])}"
                    )
            self.summary.ends[end] += 1
        except Exception as error:  # whatever it is, it is a finding
            listed = "\n".join(f"    {fault}" for fault in faults)
            how = "".join(traceback.format_exception(error)[-12:])
            self.summary.failed.append(f"seed {seed}, {name}, input {number}: {error!r}\n{listed}\n{how}")
        finally:
            if past is not None:
                past.abandon()
                self.summary.faults += past.struck
                self.summary.fell_back += past.fell_back
            self.summary.histories += 1
            shutil.rmtree(self._folder / "history", ignore_errors=True)

    def drawn(self, seed: int) -> tuple[str, int, Case, list[Fault]]:
        """What a history runs, and what happens to it."""
        draw = random.Random(f"campaign {seed}")
        name, number = draw.choice([*QUERIES, FLOW]), draw.randrange(INPUTS)
        case = self._case(name, number)
        return name, number, case, drawn_faults(draw, case.stages, MOST_FAULTS)

    def _case(self, name: str, number: int) -> Case:
        return flow_case(number) if name == FLOW else query_case(name, number)

    def _past(self, case: Case, faults: list[Fault], seed: str) -> Past:
        folder = self._folder / "history"
        shutil.rmtree(folder, ignore_errors=True)
        return Past(case, folder, faults, seed)

    def _right_answer(self, name: str, number: int, case: Case) -> list[Emitted]:
        """What each batch must emit: that of a run without faults, which the reference has confirmed."""
        if (name, number) not in self._right:
            past = self._past(case, [], "without faults")
            if past.run() != "done":
                raise DifferenceError("a run without faults was refused")
            written = [past.written[batch] for batch in range(BATCHES)]
            case.check(written)
            self._right[name, number] = written
        return self._right[name, number]


@contextmanager
def campaign() -> Iterator[Campaign]:
    """A campaign in a folder of its own, in memory if the system has such folders."""
    folder = Path(mkdtemp(prefix="thalweg-faults-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None))
    try:
        with simulated_disk():
            yield Campaign(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_campaign(
    seed: int, histories: int | None = None, faults: int = FAULTS, say: Callable[[str], None] = print
) -> Summary:
    """So many histories, or as many as it takes to see so many faults; failures are said when they are found."""
    begun = time.monotonic()
    with campaign() as running:
        for number in count() if histories is None else range(histories):
            if histories is None and running.summary.faults.total() >= faults:
                break
            known = len(running.summary.failed)
            running.run(seed + number)
            for failure in running.summary.failed[known:]:
                say(f"{failure}    python -m faults.campaign --histories 1 --seed {seed + number}    repeats it")
    running.summary.seconds = time.monotonic() - begun
    return running.summary


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="faults.campaign", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=1, help="of the first history; the next ones follow")
    parser.add_argument("--histories", type=int, help="how many histories to run; else as many as --faults takes")
    parser.add_argument("--faults", type=int, default=FAULTS, help="how many faults to see")
    given = parser.parse_args()
    if given.histories == 1:
        with campaign() as running:
            name, number, _, faults = running.drawn(given.seed)
        print(f"seed {given.seed}: {name}, input {number}", *(f"    {fault}" for fault in faults), sep="\n")
    summary = run_campaign(given.seed, given.histories, given.faults)
    print(summary.shown())
    sys.exit(bool(summary.failed))


if __name__ == "__main__":
    main()
