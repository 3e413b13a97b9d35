"""`thalweg bench`: ratios measured in one run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from thalweg.bench import flow, joins, kernel, orders, requery
from thalweg.bench.result import Result
from thalweg.cli.output import console, say
from thalweg.cli.peers import PEER, QUERY, bench_peers


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


_PEERS_ONLY = {"query": "--query", "peer": "--peer", "rows": "--rows", "slide": "--slide", "folder": "--folder"}


def _refuse_peers_options(context: click.Context, name: str) -> None:
    for option, spelt in _PEERS_ONLY.items():
        if context.get_parameter_source(option) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(f"{spelt} is for the benchmark peers, not {name}")


def _verdict(result: Result) -> str:
    if result.target is None:
        return ""
    sign = ">=" if result.at_least else "<="
    return f"{sign} {result.target:<6g}{'holds' if result.holds else 'MISSED'}"


@click.command(short_help="Measure ratios against yardsticks in one run.")
@click.argument("name", type=click.Choice(sorted([*BENCHES, "peers"])))
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line: case, ratio, target, holds, ...")
@click.option("--data", type=click.Path(exists=True, file_okay=False), help="joins: a folder of Zeek logs to join.")
@click.option("--query", multiple=True, type=QUERY, help="peers: this query only; may be given again.")
@click.option("--peer", multiple=True, type=PEER, help="peers: this system only; may be given again.")
@click.option("--rows", type=click.IntRange(1), help="peers: time over up to so many rows.")
@click.option("--slide", type=click.IntRange(1), default=10, show_default=True, help="peers: seconds between answers.")
@click.option("--folder", default=".peers", show_default=True, help="peers: for their environments and the data.")
@click.pass_context
def bench(
    context: click.Context, name: str, as_json: bool, data: str | None, query: tuple[str, ...], peer: tuple[str, ...],
    rows: int | None, slide: int, folder: str,
) -> None:  # fmt: skip
    """Run the benchmark NAME and hold every ratio against its target.

    Only ratios within one run mean anything; times depend on the machine. `peers` asks other systems the same questions
    (an environment is made for each with pip) and takes the time of those that give the right rows.

    \b
    Examples:
      thalweg bench kernel
      thalweg bench kernel --json
      thalweg bench peers --query join --peer thalweg --peer flink
    """
    if name == "peers":
        bench_peers(query, peer, rows, slide, folder, as_json)
        return
    _refuse_peers_options(context, name)
    to, failed = console(), 0
    for result in BENCHES[name]() if data is None else _with_data(name, data):
        failed += not result.holds
        if as_json:
            click.echo(json.dumps(result.as_dict()))
        else:
            say(to, f"{result.ratio:9.2f} {_verdict(result):17}{result.case}")
    if not as_json:
        say(to, f"{failed} missed" if failed else "all hold")
