"""The outcome of an experiment: its numbers, and a verdict for each sentence of its claim. One JSON line each."""

from __future__ import annotations

import json
import math
import os
import platform
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.core.errors import ThalwegError
from thalweg_benchmarks.papers.claims import number
from thalweg_benchmarks.papers.experiment import Experiment, Scale, Series, X


@dataclass(frozen=True)
class Verdict:
    """A sentence of the claim, whether it holds, the numbers that show it, and the reason if it does not hold."""

    says: str
    holds: bool
    seen: str
    why: str = ""


@dataclass(frozen=True)
class ExperimentOutcome:
    """One run of one experiment, with the experiment's texts, so that a JSON line can be read by itself."""

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
    run: Mapping[str, Any] = field(default_factory=dict)  # date, machine, size and duration

    @property
    def paper(self) -> str:
        """The paper's key, such as "GolabOzsu2005"."""
        return self.id.split("-", 1)[0]

    @property
    def holds(self) -> bool:
        """Whether every sentence of the claim holds."""
        return all(verdict.holds for verdict in self.verdicts)

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        held = sum(verdict.holds for verdict in self.verdicts)
        if self.holds:
            return "holds"
        return f"holds in part ({held} of {len(self.verdicts)})" if held else "does not hold"

    def as_dict(self) -> dict[str, Any]:
        """For JSON; a series is a list of pairs, because keys of JSON objects cannot be numbers."""
        fields = asdict(self)
        fields["series"] = {name: [[x, y] for x, y in points.items()] for name, points in self.series.items()}
        return {**fields, "holds": self.holds, "verdict": self.verdict}

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> ExperimentOutcome:
        """The outcome of `as_dict`; the fields that are derived are ignored."""
        given = {name: value for name, value in fields.items() if name not in ("holds", "verdict")}
        series: dict[str, dict[X, float]] = {name: dict(map(tuple, pairs)) for name, pairs in fields["series"].items()}
        verdicts = tuple(Verdict(**verdict) for verdict in fields["verdicts"])
        return ExperimentOutcome(**{**given, "series": series, "verdicts": verdicts})


def conduct(experiment: Experiment, scale: Scale) -> ExperimentOutcome:
    """Run an experiment and check its claim against the numbers."""
    began = time.perf_counter()
    measured = experiment.run(scale)
    seconds = time.perf_counter() - began
    seen = [(claim, claim.test(measured.series)) for claim in experiment.claims]
    return ExperimentOutcome(
        experiment.id, experiment.figure, experiment.title, experiment.claim, experiment.workload,
        asdict(experiment.x), asdict(experiment.y), measured.series,
        tuple(Verdict(c.says, s.holds, s.numbers, "" if s.holds else c.why) for c, s in seen),
        {**measured.details, **_bends(experiment, measured.series)}, _circumstances(scale, seconds),
    )  # fmt: skip


def _bends(experiment: Experiment, series: Series) -> dict[str, str]:
    """For each curve whose bend the experiment explains: where it bends in these numbers, and why."""
    return {
        f"where *{name}* bends": f"{_bend(series[name])}; {why}"
        for name, why in experiment.bends.items()
        if len(series[name]) > 1
    }


def _bend(points: Mapping[X, float]) -> str:
    """The step from one x to the next with the largest ratio of two neighbours, whether up or down."""
    steps = list(pairwise(points.items()))
    (left, before), (right, after) = max(steps, key=lambda step: abs(math.log(step[1][1] / step[0][1])))
    return f"most between {number(left)} and {number(right)}, to {after / before:.2g} of the rate"


def _circumstances(scale: Scale, seconds: float) -> dict[str, Any]:
    return {
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "seconds": round(seconds, 1),
        "scale": "quick" if scale.quick else "full",
        "data": "recorded" if scale.data else "generated",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}",
    }


def keep(outcome: ExperimentOutcome, folder: Path) -> None:
    """Write an outcome into its paper's file; it replaces an older outcome of the same experiment."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{outcome.paper}.jsonl"
    lines = {old.id: old for old in _lines(path)} if path.exists() else {}
    lines[outcome.id] = outcome
    path.write_text("".join(json.dumps(each.as_dict()) + "\n" for each in sorted(lines.values(), key=_place)))


def kept(folder: Path) -> list[ExperimentOutcome]:
    """All outcomes in a folder, in order of papers, figures and tables."""
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        raise ThalwegError(f"there are no results (*.jsonl) in {folder}", hint=f"thalweg bench paper --out {folder}")
    return [outcome for path in paths for outcome in _lines(path)]


def _place(outcome: ExperimentOutcome) -> tuple[str, str, int, str]:
    """A key that sorts figures by number, then tables by number."""
    found = re.match(r"(\D*)(\d*)(.*)", outcome.id.split("-", 1)[1])
    assert found is not None  # each part may be empty
    kind, number, panel = found.groups()
    return outcome.paper, kind, int(number or 0), panel


def _lines(path: Path) -> Iterable[ExperimentOutcome]:
    for line in path.read_text().splitlines():
        yield ExperimentOutcome.from_dict(json.loads(line))
