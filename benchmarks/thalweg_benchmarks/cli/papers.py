"""`thalweg bench paper` runs the papers' experiments; `thalweg bench report` makes plots and pages of the results."""

from __future__ import annotations

import json
from pathlib import Path

import click

from thalweg.cli.output import console, say
from thalweg_benchmarks.papers import ExperimentOutcome, Scale, chosen, conduct, keep
from thalweg_benchmarks.report import build

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command(short_help="Run the papers' experiments and check their claims.")
@click.argument("which", metavar="[ID]", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line: series, verdicts, details, ...")
@click.option("--list", "only_list", is_flag=True, help="List the experiments; run none.")
@click.option(
    "--quick", is_flag=True, help="Tiny workloads, which show that an experiment runs; its verdicts mean nothing."
)
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path), help="A folder with recorded connections."
)
@click.option("--out", type=_FOLDER, help="A folder for the results: a file of JSON lines for each paper.")
def paper(which: str | None, as_json: bool, only_list: bool, quick: bool, data: Path | None, out: Path | None) -> None:
    """Run experiment ID ("GolabOzsu2005-fig9"), all of a paper ("GolabOzsu2005"), or every experiment.

    Without --data, the connections are generated from a seed. The folder of --data holds zeek_conn_*.parquet, or
    LBL-CONN-7's text as lbl-conn-7*.

    \b
    Examples:
      thalweg bench paper --list
      thalweg bench paper GolabOzsu2005-fig9 --json
      thalweg bench paper --out docs/report/results
    """
    to, progress = console(), console(stderr=True)
    experiments = chosen(which)
    for i, experiment in enumerate(experiments):
        if only_list:
            say(to, f"{experiment.id:28} {experiment.title}")
            continue
        say(progress, f"[{i + 1}/{len(experiments)}] {experiment.id}: {experiment.title} ...", "dim")
        outcome = conduct(experiment, Scale(quick, data))
        if out is not None:
            keep(outcome, out)
        if as_json:
            click.echo(json.dumps(outcome.as_dict()))
        else:
            for line in _lines(outcome):
                say(to, line)


def _lines(outcome: ExperimentOutcome) -> list[str]:
    seconds = outcome.run["seconds"]
    lines = [f"{outcome.id:28} {outcome.verdict} ({seconds} s)"]
    for verdict in outcome.verdicts:
        lines.append(f"  {'holds ' if verdict.holds else 'MISSED'} {verdict.says} [{verdict.seen}]")
        if verdict.why:
            lines.append(f"         why: {verdict.why}")
    return lines


@click.command(short_help="Draw the plots and write the pages of a report.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def report(folder: Path) -> None:
    """Write pages and plots into FOLDER, from the results in FOLDER/results.

    \b
    Example:
      thalweg bench paper --out docs/report/results && thalweg bench report docs/report
    """
    written = build(folder)
    say(console(), f"{len(written)} files written; begin with {folder / 'README.md'}")
