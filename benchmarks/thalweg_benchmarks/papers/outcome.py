"""What became of an experiment: its numbers, and which sentences of its claim hold. One JSON line each."""

from __future__ import annotations

import json
import os
import platform
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.core.errors import ThalwegError
from thalweg_benchmarks.papers.bends import bends
from thalweg_benchmarks.papers.experiment import Experiment, Scale, Series, X


@dataclass(frozen=True)
class Verdict:
    """A sentence of the claim, whether it holds, the numbers that say so, and why it does not."""

    says: str
    holds: bool
    seen: str
    why: str = ""


@dataclass(frozen=True)
class Outcome:
    """One run of one experiment; what describes the experiment is told along, so that a line stands for itself."""

    id: str
    figure: str
    title: str
    claim: str
    workload: str
    x: Mapping[str, Any]
    y: Mapping[str, Any]
    series: Series
    verdicts: tuple[Verdict, ...]
    details: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)  # when, where, how large, how long

    @property
    def paper(self) -> str:
        """The paper's key, such as "GolabOzsu2005"."""
        return self.id.split("-", 1)[0]

    @property
    def holds(self) -> bool:
        """Whether every sentence of the claim does."""
        return all(verdict.holds for verdict in self.verdicts)

    @property
    def verdict(self) -> str:
        """In words."""
        held = sum(verdict.holds for verdict in self.verdicts)
        if self.holds:
            return "holds"
        return f"holds in part ({held} of {len(self.verdicts)})" if held else "does not hold"

    def as_dict(self) -> dict[str, Any]:
        """For JSON: a series is a list of pairs, so that numbers stay numbers."""
        told = asdict(self)
        told["series"] = {name: [[x, y] for x, y in points.items()] for name, points in self.series.items()}
        return {**told, "holds": self.holds, "verdict": self.verdict}

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> Outcome:
        """Back from JSON; what follows from the rest is left out."""
        kept = {name: value for name, value in told.items() if name not in ("holds", "verdict")}
        series: dict[str, dict[X, float]] = {name: dict(map(tuple, pairs)) for name, pairs in told["series"].items()}
        verdicts = tuple(Verdict(**verdict) for verdict in told["verdicts"])
        return Outcome(**{**kept, "series": series, "verdicts": verdicts})


def conduct(experiment: Experiment, scale: Scale) -> Outcome:
    """Run an experiment and hold its claim against the numbers."""
    began = time.perf_counter()
    measured = experiment.run(scale)
    seconds = time.perf_counter() - began
    seen = [(claim, claim.test(measured.series)) for claim in experiment.claims]
    return Outcome(
        experiment.id, experiment.figure, experiment.title, experiment.claim, experiment.workload,
        asdict(experiment.x), asdict(experiment.y), measured.series,
        tuple(Verdict(c.says, s.holds, s.numbers, "" if s.holds else c.why) for c, s in seen),
        {**measured.details, **bends(experiment, measured.series)}, _circumstances(scale, seconds),
    )  # fmt: skip


def _circumstances(scale: Scale, seconds: float) -> dict[str, Any]:
    return {
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "seconds": round(seconds, 1),
        "scale": "quick" if scale.quick else "full",
        "data": "recorded" if scale.data else "generated",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}",
    }


def keep(outcome: Outcome, folder: Path) -> None:
    """Write an outcome's line into its paper's file, in place of an older one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{outcome.paper}.jsonl"
    lines = {old.id: old for old in _lines(path)} if path.exists() else {}
    lines[outcome.id] = outcome
    path.write_text("".join(json.dumps(each.as_dict()) + "\n" for each in sorted(lines.values(), key=_place)))


def kept(folder: Path) -> list[Outcome]:
    """All outcomes in a folder, paper by paper."""
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        raise ThalwegError(f"there are no results (*.jsonl) in {folder}", hint=f"thalweg bench paper --out {folder}")
    return [outcome for path in paths for outcome in _lines(path)]


def _place(outcome: Outcome) -> tuple[str, str, int, str]:
    """Figures by number, then tables by number."""
    found = re.match(r"(\D*)(\d*)(.*)", outcome.id.split("-", 1)[1])
    assert found is not None  # each part may be empty
    kind, number, panel = found.groups()
    return outcome.paper, kind, int(number or 0), panel


def _lines(path: Path) -> Iterable[Outcome]:
    for line in path.read_text().splitlines():
        yield Outcome.from_dict(json.loads(line))
