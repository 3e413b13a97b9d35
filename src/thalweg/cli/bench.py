"""`thalweg bench`: ratios measured in one run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from thalweg.bench import flow, joins, kernel, orders, requery
from thalweg.bench.result import Result
from thalweg.cli.output import console, say


def _kernel() -> Iterator[Result]:
    yield from kernel.run()
    yield from orders.run()
    yield from requery.run()


def _flow() -> Iterator[Result]:
    from thalweg.bench.spark import flow as on_spark

    yield from flow.run()
    yield from on_spark.run()


def _spark() -> Iterator[Result]:
    from thalweg.bench.spark import run

    yield from run()


BENCHES: dict[str, Callable[[], Iterator[Result]]] = {
    "flow": _flow,
    "joins": joins.run,
    "kernel": _kernel,
    "spark": _spark,
}


def _with_data(name: str, data: str) -> Iterator[Result]:
    if name != "joins":
        raise click.UsageError(f"--data is for the benchmark joins, not {name}")
    return joins.run(Path(data))


def _verdict(result: Result) -> str:
    if result.target is None:
        return ""
    sign = ">=" if result.at_least else "<="
    return f"{sign} {result.target:<6g}{'holds' if result.holds else 'MISSED'}"


@click.command(short_help="Measure ratios against yardsticks in one run.")
@click.argument("name", type=click.Choice(sorted(BENCHES)))
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line: case, ratio, target, holds, ...")
@click.option("--data", type=click.Path(exists=True, file_okay=False), help="joins: a folder of Zeek logs to join.")
def bench(name: str, as_json: bool, data: str | None) -> None:
    """Run the benchmark NAME and hold every ratio against its target.

    Only ratios within one run mean anything; times depend on the machine.

    \b
    Examples:
      thalweg bench kernel
      thalweg bench kernel --json
    """
    to, failed = console(), 0
    for result in BENCHES[name]() if data is None else _with_data(name, data):
        failed += not result.holds
        if as_json:
            click.echo(json.dumps(result.as_dict()))
        else:
            say(to, f"{result.ratio:9.2f} {_verdict(result):17}{result.case}")
    if not as_json:
        say(to, f"{failed} missed" if failed else "all hold")
