"""All experiments, paper by paper, in the order of their figures."""

from __future__ import annotations

from thalweg.bench.paper import scaling, seed000, seed001, seed002, seed003, seed004
from thalweg.bench.paper.experiment import Experiment
from thalweg.core.errors import NameNotFoundError

EXPERIMENTS: tuple[Experiment, ...] = (
    *seed000.EXPERIMENTS, *seed001.EXPERIMENTS, *seed002.EXPERIMENTS, *seed003.EXPERIMENTS,
    *seed004.EXPERIMENTS, *scaling.EXPERIMENTS,
)  # fmt: skip

OWN = "scale"  # in no paper
PAPERS: dict[str, str] = {
    "000": "Update-pattern-aware processing of continuous queries",
    "001": "Incremental evaluation of sliding-window queries",
    "002": "Window update patterns in stream operators",
    "003": "Continuously adaptive continuous queries",
    "004": "Multi-way joins of sliding windows",
    OWN: "How it scales",
}


def chosen(name: str | None = None) -> list[Experiment]:
    """The experiments that a user names: one ("000-fig9"), a paper's ("000"), panels of a figure ("001-fig8"), or all.

    A part of a figure's number is no name: "000-fig1" is not Figure 10.
    """
    found = [e for e in EXPERIMENTS if name is None or e.id == name or _is_part(e.id, name)]
    if not found:
        raise NameNotFoundError(f"there is no experiment {name!r}", candidates=[e.id for e in EXPERIMENTS])
    return found


def _is_part(id_: str, name: str) -> bool:
    rest = id_.removeprefix(name)
    return rest != id_ and (rest.startswith("-") or rest[:1].isalpha())
