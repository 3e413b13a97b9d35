"""Draw the plots with matplotlib, which is imported only here, when a plot is drawn."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from thalweg.core.errors import ThalwegError
from thalweg_benchmarks.papers.outcome import ExperimentOutcome

_APART = 0.07  # share of the axis: labels that are closer would overlap

# Series differ in marker and dash too, not in colour alone.
_STYLES = (("#1b6ca8", "o", "-"), ("#d1495b", "s", "--"), ("#3a7d44", "^", "-."), ("#edae49", "D", ":"),
           ("#6a4c93", "v", "-"), ("#555555", "x", "--"), ("#00798c", "P", "-."), ("#a0522d", "*", ":"))  # fmt: skip

# The approaches that the papers compare have one style in all figures; other series have theirs by place.
_KNOWN = {"NT": 1, "NTA": 1, "DIRECT": 3, "ITA": 3, "UPA": 0, "UPA (10)": 0, "UPA (50)": 2, "ORD": 0,
          "piggybacking": 0, "join-message": 2}  # fmt: skip


_HORIZONTAL_NAMES_UP_TO = 12  # more do not fit beside each other


def draw(outcome: ExperimentOutcome, path: Path, pyplot: Any = None) -> None:
    """Draw one figure with `pyplot` (by default matplotlib's): lines if x is a number, bars if x is a name."""
    pyplot = _pyplot() if pyplot is None else pyplot
    figure, axes = pyplot.subplots(figsize=(7.2, 4.2), layout="constrained")
    names = [x for points in outcome.series.values() for x in points if isinstance(x, str)]
    if names:
        _bars(axes, outcome, list(dict.fromkeys(names)))
    else:
        _lines(axes, outcome)
    axes.set_xlabel(outcome.x["label"])
    axes.set_ylabel(outcome.y["label"])
    axes.set_title(f"{outcome.paper}, {outcome.figure}: {outcome.title}", fontsize=10, wrap=True)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    if len(outcome.series) > 1:
        axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def _lines(axes: Any, outcome: ExperimentOutcome) -> None:
    for i, (name, points) in enumerate(outcome.series.items()):
        colour, marker, dash = _style(i, name)
        size = max(4, 9 - 1.5 * i)  # smaller for each series, so that lines that coincide are both visible
        axes.plot(list(points), list(points.values()), color=colour, marker=marker, markersize=size, linestyle=dash,
                  label=name)  # fmt: skip
    if outcome.x["log"]:
        axes.set_xscale("log")
    shown = sorted({float(x) for points in outcome.series.values() for x in points})
    apart = min((b - a for a, b in pairwise(shown)), default=0.0)
    if outcome.x["log"] or apart > _APART * (shown[-1] - shown[0]):
        axes.set_xticks(shown, [f"{x:,g}" for x in shown])
        axes.minorticks_off()
    _heights(axes, outcome)
    if not outcome.y["log"]:
        axes.set_ylim(bottom=0)


def _style(i: int, name: str) -> tuple[str, str, str]:
    return _STYLES[_KNOWN.get(name, i) % len(_STYLES)]


def _heights(axes: Any, outcome: ExperimentOutcome) -> None:
    """Label the y axis with plain numbers; a logarithmic one at 1, 2 and 5 times powers of ten."""
    if outcome.y["log"]:
        axes.set_yscale("log")
        values = [y for points in outcome.series.values() for y in points.values() if y > 0]
        marks = [m * 10.0**e for e in range(-6, 10) for m in (1, 2, 5)]
        inside = [m for m in marks if min(values, default=1) / 1.6 <= m <= 1.6 * max(values, default=1)]
        decades = [m for m in inside if f"{m:e}".startswith("1.")]
        axes.set_yticks(inside if len(inside) <= 10 else decades)
        axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:,g}")


def _bars(axes: Any, outcome: ExperimentOutcome, names: list[str]) -> None:
    width = 0.8 / len(outcome.series)
    for i, (name, points) in enumerate(outcome.series.items()):
        at = [names.index(str(x)) + (i - (len(outcome.series) - 1) / 2) * width for x in points]
        axes.bar(at, list(points.values()), width, color=_style(i, name)[0], label=name)
    axes.set_xticks(range(len(names)), names, rotation=90 if len(names) > _HORIZONTAL_NAMES_UP_TO else 0)
    _heights(axes, outcome)


def _pyplot() -> Any:
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise ThalwegError(
            "the report's plots are drawn with matplotlib, which is not installed",
            hint="make report installs it; by hand: pip install -e 'benchmarks[report]'",
        ) from None
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "thalweg", "font.size": 9})
    from matplotlib import pyplot

    return pyplot
