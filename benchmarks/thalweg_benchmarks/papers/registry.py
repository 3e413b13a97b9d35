"""All experiments, paper by paper, in the order of their figures."""

from __future__ import annotations

from thalweg.core.errors import NameNotFoundError
from thalweg_benchmarks.papers import (
    ghanem_2007,
    golab_ozsu_2003,
    golab_ozsu_2005,
    madden_2002,
    patroumpas_sellis_2011,
    scaling,
)
from thalweg_benchmarks.papers.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    *golab_ozsu_2005.EXPERIMENTS,
    *ghanem_2007.EXPERIMENTS,
    *patroumpas_sellis_2011.EXPERIMENTS,
    *madden_2002.EXPERIMENTS,
    *golab_ozsu_2003.EXPERIMENTS,
    *scaling.EXPERIMENTS,
)

OWN = "scale"  # experiments of our own, from no paper
PAPERS: dict[str, str] = {
    "GolabOzsu2005": "Update-pattern-aware processing of continuous queries",
    "GhanemEtAl2007": "Incremental evaluation of sliding-window queries",
    "PatroumpasSellis2011": "Window update patterns in stream operators",
    "MaddenEtAl2002": "Continuously adaptive continuous queries",
    "GolabOzsu2003": "Multi-way joins of sliding windows",
    OWN: "How it scales",
}


def chosen(name: str | None = None) -> list[Experiment]:
    """The experiments that a name stands for; all of them without a name.

    A name is an experiment's id ("GolabOzsu2005-fig9"), a figure with several panels ("GhanemEtAl2007-fig8" for 8a and
    8b) or a paper ("GolabOzsu2005"). The beginning of a figure's number is no name: "GolabOzsu2005-fig1" does not stand
    for Figure 10, nor "Golab" for a paper.
    """
    found = [e for e in EXPERIMENTS if name is None or e.id == name or _is_part(e.id, name)]
    if not found:
        raise NameNotFoundError(f"there is no experiment {name!r}", candidates=[e.id for e in EXPERIMENTS])
    return found


def _is_part(id_: str, name: str) -> bool:
    """Whether `name` is the paper of an experiment, or its figure without the letter of the panel."""
    rest = id_.removeprefix(name)
    return rest != id_ and (rest.startswith("-") or ("-" in name and rest[:1].isalpha()))
