"""What an experiment of a paper is: a workload, what is measured on it, and its claim as predicates over numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

X = float | str
Series = Mapping[str, Mapping[X, float]]  # by name, x and the number measured there
Points = dict[str, dict[X, float]]  # the same while it is being measured

T = TypeVar("T")


@dataclass(frozen=True)
class Scale:
    """How large a run is, and on which data: `data` is a folder with recorded connections, None if there is none.

    It can be hashed, so that figures which share a workload can share its run.
    """

    quick: bool = False
    data: Path | None = None

    def pick(self, full: T, quick: T) -> T:
        """The one of two values that this run uses."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Axis:
    """What a plot's axis says, unit included."""

    label: str
    log: bool = False


@dataclass(frozen=True)
class Measured:
    """The numbers of a figure, and what else a reader may want to know of the run."""

    series: Series
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Seen:
    """Whether a predicate holds of the numbers, and the numbers that say so, in a few words."""

    holds: bool
    numbers: str


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper's claim as a predicate: who wins, from where on, by what ratio.

    `why` says what makes the difference here, where it is known not to hold.
    """

    says: str
    test: Callable[[Series], Seen]
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
    run: Callable[[Scale], Measured]
    claims: tuple[Claim, ...]
    bends: Mapping[str, str] = field(default_factory=dict)

    @property
    def paper(self) -> str:
        """The paper's key, such as "GolabOzsu2005"."""
        return self.id.split("-", 1)[0]

    @property
    def figure(self) -> str:
        """What the paper calls it, such as "Figure 9"."""
        kind, number = self.id.split("-", 1)[1].split("-")[0], ""
        for name, word in (("fig", "Figure"), ("table", "Table")):
            if kind.startswith(name):
                kind, number = word, kind.removeprefix(name)
        return f"{kind} {number}".strip()
