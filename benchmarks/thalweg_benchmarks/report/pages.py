"""The report's pages: an index with every verdict, and for each paper its figures, claims, numbers and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from thalweg_benchmarks.papers.claims import number
from thalweg_benchmarks.papers.outcome import ExperimentOutcome, Verdict
from thalweg_benchmarks.papers.registry import OWN, PAPERS

_HOW = """Made by `make report` from the JSON lines in [results](results/): tables, plots and verdicts hold the
numbers of that run. Times are processor time where an axis says so, else time on the clock; only ratios
within one plot mean anything, and a ratio near its bound may fall on the other side in another run. "Holds"
says that every sentence of a claim, taken as a predicate over the numbers, is true of them. Where one is
not, a reason is given beside it; reasons are written by hand, and shares of time in them come from profiles
made apart from this run."""


def index(outcomes: Sequence[ExperimentOutcome]) -> str:
    """The index: every experiment with its claim and verdict."""
    held = sum(outcome.holds for outcome in outcomes)
    sentences = [verdict.holds for outcome in outcomes for verdict in outcome.verdicts]
    lines = [
        "# The papers' experiments, run here",
        "",
        _HOW,
        "",
        f"Of {len(outcomes)} figures and tables {held} hold in all they say; "
        f"of {len(sentences)} sentences {sum(sentences)} do.",
        "",
    ]
    for paper, its in groupby(outcomes, lambda outcome: outcome.paper):
        lines += [
            f"## [{paper}: {PAPERS.get(paper, '')}]({paper}.md)",
            "",
            "| experiment | claim | verdict |",
            "|---|---|---|",
        ]
        lines += [
            f"| [{o.id}]({paper}.md#{_anchor(o)}) {_cell(o.title)} | {_cell(o.claim)} | {_mark(o)} |" for o in its
        ]
        lines.append("")
    return "\n".join(lines)


def page(paper: str, outcomes: Sequence[ExperimentOutcome], plots: str) -> str:
    """The page of a paper: its figures with claims, plots, verdicts and numbers."""
    lines = [f"# {paper}: {PAPERS.get(paper, '')}", "", "[All experiments](README.md)", ""]
    for outcome in outcomes:
        lines += [f'<a id="{_anchor(outcome)}"></a>', f"## {outcome.figure}: {outcome.title}", ""]
        lines += [f"**{'We expect' if paper == OWN else 'The paper says'}:** {outcome.claim}", ""]
        lines += [f"![{outcome.figure}: {outcome.title}]({plots}/{outcome.id}.svg)", ""]
        lines += [f"**Verdict: {outcome.verdict}.**", "", *_verdicts(outcome.verdicts), ""]
        lines += [f"**Workload:** {outcome.workload}", ""]
        lines += [*_numbers(outcome), "", *_details(outcome), ""]
    return "\n".join(lines).rstrip() + "\n"


def _verdicts(verdicts: Sequence[Verdict]) -> list[str]:
    lines = []
    for verdict in verdicts:
        lines.append(f"- {'holds' if verdict.holds else '**does not hold**'}: {verdict.says} ({verdict.seen})")
        if not verdict.holds:
            lines.append(f"  - why: {verdict.why or 'no reason is written down'}")
    return lines


def _numbers(outcome: ExperimentOutcome) -> list[str]:
    """A row for each x, a column for each series."""
    names = list(outcome.series)
    xs = sorted({x for points in outcome.series.values() for x in points}, key=lambda x: (isinstance(x, str), x))
    if any(isinstance(x, str) for x in xs):  # names keep the order of the series
        xs = list(dict.fromkeys(x for points in outcome.series.values() for x in points))
    head = [_cell(outcome.x["label"]), *map(_cell, names)]
    lines = [f"{outcome.y['label']}:", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for x in xs:
        cells = [number(points[x]) if x in points else "" for points in outcome.series.values()]
        lines.append(f"| {number(x)} | {' | '.join(cells)} |")
    return lines


def _details(outcome: ExperimentOutcome) -> list[str]:
    run = ", ".join(f"{name} {value}" for name, value in outcome.run.items())
    details = [f"- {name}: {value}" for name, value in outcome.details.items()]
    return [*details, *([""] if details else []), f"*Run: {run}.*"]


def _anchor(outcome: ExperimentOutcome) -> str:
    """The anchor of a figure on its page; in small letters, because Sphinx makes such ids."""
    return outcome.id.lower()


def _mark(outcome: ExperimentOutcome) -> str:
    return outcome.verdict if outcome.holds else f"**{outcome.verdict}**"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
