"""`thalweg bench report FOLDER`: plots and pages, made from the results of the papers' experiments."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from thalweg_benchmarks.papers.outcome import ExperimentOutcome, kept
from thalweg_benchmarks.papers.registry import PAPERS
from thalweg_benchmarks.report.pages import index, page
from thalweg_benchmarks.report.plots import draw

RESULTS, PLOTS = "results", "plots"


def build(folder: Path, drawn: Callable[[ExperimentOutcome, Path], None] = draw) -> list[Path]:
    """Write plots and pages into `folder`, from the numbers in its folder `results`; return the paths written."""
    outcomes = sorted(kept(folder / RESULTS), key=_place_of_paper)
    (folder / PLOTS).mkdir(exist_ok=True)
    written = []
    for outcome in outcomes:
        written.append(folder / PLOTS / f"{outcome.id}.svg")
        drawn(outcome, written[-1])
    for paper, its in groupby(outcomes, lambda outcome: outcome.paper):
        written.append(folder / f"{paper}.md")
        written[-1].write_text(page(paper, list(its), PLOTS))
    written.append(folder / "README.md")
    written[-1].write_text(index(outcomes))
    return written


def _place_of_paper(outcome: ExperimentOutcome) -> int:
    """The place of an outcome's paper in the registry; papers that are not in it come last."""
    papers = list(PAPERS)
    return papers.index(outcome.paper) if outcome.paper in papers else len(papers)
