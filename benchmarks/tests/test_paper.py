"""Would catch a claim that is said to hold though the numbers say otherwise, and results that change on their way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from thalweg.cli.main import main
from thalweg.core.errors import NameNotFoundError, ThalwegError
from thalweg_benchmarks.papers import (
    EXPERIMENTS,
    Experiment,
    ExperimentOutcome,
    FigureData,
    Scale,
    chosen,
    conduct,
    keep,
    kept,
)
from thalweg_benchmarks.papers import claims as c
from thalweg_benchmarks.papers.experiment import Axis, Claim

SERIES: dict[str, dict[float | str, float]] = {
    "slow": {1.0: 10.0, 2.0: 30.0, 4.0: 80.0},
    "fast": {1.0: 5.0, 2.0: 10.0, 4.0: 10.0},
    "zero": {1.0: 0.0, 2.0: 0.0},
}

HOLDS: list[tuple[Claim, bool]] = [
    (c.below("fast", "slow", "", by=2.0), True),
    (c.below("fast", "slow", "", by=2.5), False),
    (c.below("fast", "slow", "", by=2.5, where=c.since(2)), True),
    (c.below("fast", "slow", "", by=2.0, where=c.until(1)), True),
    (c.below("slow", "fast", ""), False),
    (c.below("fast", "nobody", ""), False),  # nothing measured proves nothing
    (c.below("zero", "slow", ""), False),
    (c.below("fast", "slow", "", where=c.since(5)), False),
    (c.below_at_end("fast", "slow", "", by=8.0), True),
    (c.below_at_end("fast", "slow", "", by=8.1), False),
    (c.alike("fast", "slow", "", within=8.0), True),
    (c.alike("fast", "slow", "", within=7.9), False),
    (c.grows("slow", "", least=8.0, most=8.0), True),
    (c.grows("slow", "", most=7.0), False),
    (c.grows("zero", ""), False),
    (c.widens("fast", "slow", "", by=4.0), True),
    (c.widens("slow", "fast", ""), False),
    (c.between("fast", "", least=5.0, most=10.0), True),
    (c.between("fast", "", least=6.0, most=10.0), False),
    (c.between("fast", "", least=6.0, most=10.0, where=c.since(2)), True),
]


@pytest.mark.parametrize(("claim", "holds"), HOLDS)
def test_a_predicate_says_what_the_numbers_say(claim: Claim, holds: bool) -> None:
    assert claim.test(SERIES).holds is holds


def test_a_predicate_reports_the_numbers_it_saw() -> None:
    assert c.below("fast", "slow", "").test(SERIES).numbers == "slow / fast: 2 to 8"
    assert c.below_at_end("fast", "slow", "").test(SERIES).numbers == "slow / fast at 4: 8"
    assert c.below("fast", "nobody", "").test(SERIES).numbers == "nobody / fast: not measured"
    assert [c.number(x) for x in (0.01234, 0.5, 12.34, 1234.5, "x")] == ["0.012", "0.50", "12.3", "1,234", "x"]


def test_a_curve_bends_at_its_steepest_step() -> None:
    explained = replace(_experiment(), bends={"slow": "it is slow"}, run=lambda _: FigureData(SERIES))
    assert conduct(explained, Scale()).details == {
        "where *slow* bends": "most between 1 and 2, to 3 of the rate; it is slow"
    }


def _experiment(id_: str = "GolabOzsu2005-fig9") -> Experiment:
    claims = (c.below("fast", "slow", "fast is faster"), c.below("slow", "fast", "slow is faster", why="it is not"))

    def run(scale: Scale) -> FigureData:
        return FigureData(SERIES, {"quick": scale.quick})

    return Experiment(id_, "a race", "fast wins", "made up", Axis("x"), Axis("y (s)", log=True), run, claims)


def test_an_outcome_has_a_verdict_for_each_sentence() -> None:
    outcome = conduct(_experiment(), Scale(quick=True))
    assert [(v.says, v.holds, v.why) for v in outcome.verdicts] == [
        ("fast is faster", True, ""),
        ("slow is faster", False, "it is not"),
    ]
    assert not outcome.holds and outcome.verdict == "holds in part (1 of 2)"
    assert replace(outcome, verdicts=outcome.verdicts[:1]).verdict == "holds"
    assert replace(outcome, verdicts=outcome.verdicts[1:]).verdict == "does not hold"
    assert (outcome.figure, outcome.paper, outcome.details) == ("Figure 9", "GolabOzsu2005", {"quick": True})


def test_an_outcome_goes_through_json_unchanged() -> None:
    named = conduct(replace(_experiment(), run=lambda _: FigureData({"fast": {"q1": 1.0, "q2": 2.0}})), Scale())
    for outcome in (conduct(_experiment(), Scale()), named):
        assert ExperimentOutcome.from_dict(json.loads(json.dumps(outcome.as_dict()))) == outcome


def test_results_are_kept_by_paper_and_replaced_by_newer_ones(tmp_path: Path) -> None:
    for id_ in (
        "GolabOzsu2005-table1",
        "GolabOzsu2005-fig10",
        "GhanemEtAl2007-fig8b",
        "GolabOzsu2005-fig9",
        "GhanemEtAl2007-fig8a",
    ):
        keep(conduct(_experiment(id_), Scale()), tmp_path)
    keep(conduct(replace(_experiment("GolabOzsu2005-fig9"), title="again"), Scale()), tmp_path)
    found = {outcome.id: outcome for outcome in kept(tmp_path)}
    assert list(found) == [
        "GhanemEtAl2007-fig8a",
        "GhanemEtAl2007-fig8b",
        "GolabOzsu2005-fig9",
        "GolabOzsu2005-fig10",
        "GolabOzsu2005-table1",
    ]
    assert found["GolabOzsu2005-fig9"].title == "again"
    with pytest.raises(ThalwegError, match="no results"):
        kept(tmp_path / "elsewhere")


def test_experiments_are_found_by_name_paper_and_figure() -> None:
    assert len({experiment.id for experiment in EXPERIMENTS}) == len(EXPERIMENTS)
    assert chosen() == list(EXPERIMENTS)
    assert [e.id for e in chosen("GolabOzsu2005-fig10")] == ["GolabOzsu2005-fig10"]
    assert {e.paper for e in chosen("GolabOzsu2005")} == {"GolabOzsu2005"}
    assert [e.id for e in chosen("GhanemEtAl2007-fig8")] == ["GhanemEtAl2007-fig8a", "GhanemEtAl2007-fig8b"]
    for no_name in ("GolabOzsu2005-fig1", "Golab", "000-fig10", "000"):
        with pytest.raises(NameNotFoundError, match=f"no experiment '{no_name}'"):
            chosen(no_name)


def test_the_command_prints_and_keeps_what_it_ran(tmp_path: Path) -> None:
    listed = CliRunner().invoke(main, ["bench", "paper", "--list"])
    assert listed.output.count("\n") == len(EXPERIMENTS)
    printed = CliRunner().invoke(
        main, ["bench", "paper", "GolabOzsu2005-fig13", "--quick", "--json", "--out", str(tmp_path)]
    )
    (outcome,) = kept(tmp_path)
    assert printed.exit_code == 0 and ExperimentOutcome.from_dict(json.loads(printed.stdout)) == outcome
    shown = CliRunner().invoke(main, ["bench", "paper", "GolabOzsu2005-fig13", "--quick"])
    assert "UPA stores less than NT" in shown.stdout
