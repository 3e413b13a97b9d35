"""`thalweg bench`: ratios measured in one run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import click

from thalweg.bench import flow, joins, kernel, orders, requery
from thalweg.bench.result import Result
from thalweg.cli.output import console, say


def _kernel() -> Iterator[Result]:
    yield from kernel.run()
    yield from orders.run()
    yield from requery.run()


def _spark() -> Iterator[Result]:
    from thalweg.bench.spark import run

    yield from run()


BENCHES: dict[str, Callable[[], Iterator[Result]]] = {
    "flow": flow.run,
    "joins": joins.run,
    "kernel": _kernel,
    "spark": _spark,
}


def _verdict(result: Result) -> str:
    if result.target is None:
        return ""
    sign = ">=" if result.at_least else "<="
    return f"{sign} {result.target:<6g}{'holds' if result.holds else 'MISSED'}"


@click.command(short_help="Measure ratios against yardsticks in one run.")
@click.argument("name", type=click.Choice(sorted(BENCHES)))
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line: case, ratio, target, holds, ...")
def bench(name: str, as_json: bool) -> None:
    """Run the benchmark NAME and hold every ratio against its target.

    Only ratios within one run mean anything; times depend on the machine.

    \b
    Examples:
      thalweg bench kernel
      thalweg bench kernel --json
    """
    to, failed = console(), 0
    for result in BENCHES[name]():
        failed += not result.holds
        if as_json:
            click.echo(json.dumps(result.as_dict()))
        else:
            say(to, f"{result.ratio:9.2f} {_verdict(result):17}{result.case}")
    if not as_json:
        say(to, f"{failed} missed" if failed else "all hold")
