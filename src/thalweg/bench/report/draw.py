"""The plots, with matplotlib, which is imported only here and only when something is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from thalweg.bench.paper.outcome import Outcome
from thalweg.core.errors import ThalwegError

# Told apart without colour too: by marker and dash.
_STYLES = (("#1b6ca8", "o", "-"), ("#d1495b", "s", "--"), ("#3a7d44", "^", "-."), ("#edae49", "D", ":"),
           ("#6a4c93", "v", "-"), ("#555555", "x", "--"), ("#00798c", "P", "-."), ("#a0522d", "*", ":"))  # fmt: skip


def draw(outcome: Outcome, path: Path) -> None:
    """One figure: lines over numbers, bars over names."""
    pyplot = _pyplot()
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


def _lines(axes: Any, outcome: Outcome) -> None:
    for (name, points), (colour, marker, dash) in zip(outcome.series.items(), _STYLES * 4, strict=False):
        axes.plot(list(points), list(points.values()), color=colour, marker=marker, linestyle=dash, label=name)
    if outcome.x["log"]:
        axes.set_xscale("log")
        shown = sorted({float(x) for points in outcome.series.values() for x in points})
        axes.set_xticks(shown, [f"{x:,g}" for x in shown])
        axes.minorticks_off()
    if outcome.y["log"]:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


def _bars(axes: Any, outcome: Outcome, names: list[str]) -> None:
    width = 0.8 / len(outcome.series)
    for i, (name, points) in enumerate(outcome.series.items()):
        at = [names.index(str(x)) + (i - (len(outcome.series) - 1) / 2) * width for x in points]
        axes.bar(at, list(points.values()), width, color=_STYLES[i % len(_STYLES)][0], label=name)
    axes.set_xticks(range(len(names)), names)
    if outcome.y["log"]:
        axes.set_yscale("log")


def _pyplot() -> Any:
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise ThalwegError(
            "the report's plots are drawn with matplotlib, which is not installed",
            hint="make report installs it; by hand: pip install --group report",
        ) from None
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "thalweg", "font.size": 9})
    from matplotlib import pyplot

    return pyplot
