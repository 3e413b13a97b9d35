"""`thalweg bench report FOLDER`: plots and pages beside the results that they are made of."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from thalweg_benchmarks.papers.outcome import Outcome, kept
from thalweg_benchmarks.papers.registry import PAPERS
from thalweg_benchmarks.report.draw import draw
from thalweg_benchmarks.report.pages import index, page

RESULTS, PLOTS = "results", "plots"


def build(folder: Path, drawn: Callable[[Outcome, Path], None] = draw) -> list[Path]:
    """Write the pages of a report, and let each of its plots be drawn; which files were written.

    The numbers are those in the folder's `results`.
    """
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


def _place_of_paper(outcome: Outcome) -> int:
    """Papers stand in the registry's order, and whatever is not in it last."""
    papers = list(PAPERS)
    return papers.index(outcome.paper) if outcome.paper in papers else len(papers)
