"""Would catch a report that leaves out a number, a verdict or a reason; plots are drawn by another hand here."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from thalweg.core.errors import ThalwegError
from thalweg_benchmarks.papers.outcome import ExperimentOutcome, Verdict, keep
from thalweg_benchmarks.report import build
from thalweg_benchmarks.report.plots import draw

RACE = ExperimentOutcome(
    "GolabOzsu2005-fig9",
    "Figure 9",
    "a race | of two",
    "Fast wins.",
    "Made up.",
    {"label": "window (ticks)", "log": True},
    {"label": "time (ms)", "log": False},
    {"slow": {1_000.0: 12.5, 2_000.0: 30.0}, "fast": {2_000.0: 10.0}},
    (Verdict("fast is faster", True, "3"), Verdict("by far", False, "slow / fast: 3", "it is close")),
    {"results": [1, 2]},
    {"at": "today"},
)
NAMED = ExperimentOutcome(
    "GhanemEtAl2007-table1", "Table 1", "by name", "All hold.", "Made up.", {"label": "query", "log": False},
    {"label": "time (ms)", "log": True}, {"ours": {"q2": 2.0, "q1": 1.0}}, (Verdict("it holds", True, "1"),),
)  # fmt: skip


def test_pages_have_the_numbers_the_verdicts_and_the_reasons(tmp_path: Path) -> None:
    drawn: list[str] = []
    for outcome in (RACE, NAMED):
        keep(outcome, tmp_path / "results")
    written = build(tmp_path, lambda outcome, path: drawn.append(f"{outcome.id} {path.name}"))
    assert drawn == ["GolabOzsu2005-fig9 GolabOzsu2005-fig9.svg", "GhanemEtAl2007-table1 GhanemEtAl2007-table1.svg"]
    assert [path.name for path in written] == [
        "GolabOzsu2005-fig9.svg", "GhanemEtAl2007-table1.svg", "GolabOzsu2005.md", "GhanemEtAl2007.md", "README.md",
    ]  # fmt: skip
    page = (tmp_path / "GolabOzsu2005.md").read_text()
    for part in (
        '<a id="golabozsu2005-fig9"></a>', "## Figure 9: a race | of two",
        "**The paper says:** Fast wins.", "(plots/GolabOzsu2005-fig9.svg)",
        "**Verdict: holds in part (1 of 2).**", "- holds: fast is faster (3)",
        "- **does not hold**: by far (slow / fast: 3)\n  - why: it is close",
        "| window (ticks) | slow | fast |", "| 1,000 | 12.5 |  |", "| 2,000 | 30 | 10 |",
        "- results: [1, 2]", "at today",
    ):  # fmt: skip
        assert part in page, part
    assert "| q2 | 2 |\n| q1 | 1 |" in (tmp_path / "GhanemEtAl2007.md").read_text()
    index = (tmp_path / "README.md").read_text()
    assert "Of 2 figures and tables 1 hold in all they say; of 3 sentences 2 do." in index
    linked = "[GolabOzsu2005-fig9](GolabOzsu2005.md#golabozsu2005-fig9)"
    assert f"| {linked} a race \\| of two | Fast wins. | **holds in part (1 of 2)** |" in index
    assert "| All hold. | holds |" in index


def test_without_matplotlib_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name)
        return found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ThalwegError, match="matplotlib") as error:
        draw(RACE, tmp_path / "plot.svg")
    assert error.value.hint is not None and "make report" in error.value.hint


class _Axes:
    """Records the calls of a plot."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        if name == "yaxis":
            return self
        return lambda *args, **options: self.calls.append((name, args, options))

    def all(self, name: str) -> list[tuple[Any, ...]]:
        """The arguments of all calls of a method."""
        return [args for called, args, _ in self.calls if called == name]


@pytest.mark.parametrize("outcome", [RACE, NAMED], ids=lambda outcome: outcome.id)
def test_a_plot_has_every_point_and_labelled_axes(outcome: ExperimentOutcome, tmp_path: Path) -> None:
    axes, saved = _Axes(), []

    class Figure:
        def savefig(self, path: Path, **_: Any) -> None:
            saved.append(path)

    class Pyplot:
        def subplots(self, **_: Any) -> tuple[Figure, _Axes]:
            return Figure(), axes

        def close(self, _: Figure) -> None:
            pass

    draw(outcome, tmp_path / "plot.svg", Pyplot())
    assert saved == [tmp_path / "plot.svg"]
    assert axes.all("set_xlabel") == [(outcome.x["label"],)] and axes.all("set_ylabel") == [(outcome.y["label"],)]
    points = [list(args[1]) for args in axes.all("plot") + axes.all("bar")]
    assert points == [list(series.values()) for series in outcome.series.values()]
    assert bool(axes.all("set_yscale")) == outcome.y["log"]
