"""An experiment of a paper: a workload, a measurement, and the paper's claim as predicates over the numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

X = float | str
Series = Mapping[str, Mapping[X, float]]  # name of the series -> x -> the number measured at x
Points = dict[str, dict[X, float]]  # the same, to be filled in

T = TypeVar("T")


@dataclass(frozen=True)
class Scale:
    """The size of a run and its data; `data` is a folder with recorded connections, None: generate them.

    It is hashable, so that figures with the same workload can share one run.
    """

    quick: bool = False
    data: Path | None = None

    def pick(self, full: T, quick: T) -> T:
        """One of two values: for a full run or for a quick one."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Axis:
    """The label of a plot's axis, unit included."""

    label: str
    log: bool = False


@dataclass(frozen=True)
class FigureData:
    """The numbers of a figure, and more details of the run for a reader."""

    series: Series
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """Whether a predicate holds, and the numbers that show it, in a few words."""

    holds: bool
    numbers: str


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper's claim, and a predicate for it.

    `why` gives the reason if the sentence is known not to hold here.
    """

    says: str
    test: Callable[[Series], Finding]
    why: str = ""


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper.

    `id` is the paper's key and the figure, such as "GolabOzsu2005-fig9". `claim` is what the paper concludes from it,
    in our words. `workload` says how its data and queries are made here, and what differs from the paper. `bends` says
    of a curve, by its name, why it bends where it does.
    """

    id: str
    title: str
    claim: str
    workload: str
    x: Axis
    y: Axis
    run: Callable[[Scale], FigureData]
    claims: tuple[Claim, ...]
    bends: Mapping[str, str] = field(default_factory=dict)

    @property
    def paper(self) -> str:
        """The paper's key, such as "GolabOzsu2005"."""
        return self.id.split("-", 1)[0]

    @property
    def figure(self) -> str:
        """The figure's name in the paper, such as "Figure 9"."""
        kind, number = self.id.split("-", 1)[1].split("-")[0], ""
        for name, word in (("fig", "Figure"), ("table", "Table")):
            if kind.startswith(name):
                kind, number = word, kind.removeprefix(name)
        return f"{kind} {number}".strip()
