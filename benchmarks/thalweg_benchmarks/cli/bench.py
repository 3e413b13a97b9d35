"""The command group `thalweg bench`, and its commands that print ratios: kernel, joins, flow, spark, state."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from thalweg.cli.output import console, say
from thalweg_benchmarks import flows, joins, kernel, state
from thalweg_benchmarks.cli.papers import paper, report
from thalweg_benchmarks.cli.peers import peers
from thalweg_benchmarks.result import Result


def _flow() -> Iterator[Result]:
    from thalweg_benchmarks.spark import flow as on_spark

    yield from flows.run()
    yield from on_spark.run()


def _spark() -> Iterator[Result]:
    from thalweg_benchmarks.spark import run

    yield from run()


BENCHES: dict[str, Callable[[], Iterator[Result]]] = {
    "flow": _flow,
    "joins": joins.run,
    "kernel": kernel.run,
    "spark": _spark,
    "state": state.run,
}


def _quickly(name: str) -> Iterator[Result]:
    if name != "state":
        raise click.UsageError(f"--quick is an option of `bench state`, not of `bench {name}`: leave it out")
    return state.run(quick=True)


def _with_data(name: str, data: str) -> Iterator[Result]:
    if name != "joins":
        raise click.UsageError(f"--data is an option of `bench joins`, not of `bench {name}`: leave it out")
    return joins.run(Path(data))


def _verdict(result: Result) -> str:
    if result.target is None:
        return ""
    sign = ">=" if result.at_least else "<="
    return f"{sign} {result.target:<6g}{'holds' if result.holds else 'MISSED'}"


def _show(results: Iterator[Result], as_json: bool) -> None:
    to, failed = console(), 0
    for result in results:
        failed += not result.holds
        if as_json:
            click.echo(json.dumps(result.as_dict()))
        else:
            say(to, f"{result.ratio:9.2f} {_verdict(result):17}{result.case}")
    if not as_json:
        say(to, f"{failed} missed" if failed else "all hold")


@click.group(short_help="Run benchmarks: ratios against yardsticks, the papers' experiments, other systems.")
def bench() -> None:
    """Run a benchmark and compare every ratio with its target.

    Compare ratios within one run only: times depend on the machine.

    \b
    Examples:
      thalweg bench kernel
      thalweg bench kernel --json
      thalweg bench paper GolabOzsu2005-fig9
      thalweg bench peers --query join --peer thalweg --peer flink
    """


def _command(name: str, says: str) -> click.Command:
    @click.option("--json", "as_json", is_flag=True, help="One JSON object per line: case, ratio, target, holds, ...")
    @click.option(
        "--data", type=click.Path(exists=True, file_okay=False), help="Only for joins: a folder of Zeek logs to join."
    )
    @click.option("--quick", is_flag=True, help="Only for state: a tenth of the rows.")
    def run(as_json: bool, data: str | None, quick: bool) -> None:
        if quick:
            _show(_quickly(name), as_json)
        else:
            _show(BENCHES[name]() if data is None else _with_data(name, data), as_json)

    return click.command(name, short_help=says, help=says)(run)


_SAYS = {
    "flow": "Many queries in one flow, against the same queries run one by one.",
    "joins": "Multi-way joins: orders, hash tables, trees of binary joins.",
    "kernel": "Each operator by itself, and whole queries against DuckDB asked again.",
    "spark": "Thalweg on Spark, against native Spark.",
    "state": "State of keys and strings that never repeat: its size, its time, its snapshots.",
}

for _name in BENCHES:
    bench.add_command(_command(_name, _SAYS[_name]))
for _more in (paper, peers, report):
    bench.add_command(_more)
