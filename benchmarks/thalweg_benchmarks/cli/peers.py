"""`thalweg bench peers`: other systems with the same queries over the same rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from thalweg.cli.output import console, say
from thalweg_benchmarks.peers import run
from thalweg_benchmarks.peers.environments import PEERS
from thalweg_benchmarks.peers.queries import QUERIES
from thalweg_benchmarks.peers.run import Setting
from thalweg_benchmarks.peers.table import notes, table


@click.command(short_help="Other systems with the same queries over the same rows.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line, as each peer ends.")
@click.option(
    "--query", "queries", multiple=True, type=click.Choice(list(QUERIES)), help="Only this one; may be repeated."
)
@click.option("--peer", "peers_", multiple=True, type=click.Choice(list(PEERS)), help="Only this one; may be repeated.")
@click.option("--rows", type=click.IntRange(1), help="The most rows of a timed run.")
@click.option(
    "--slide", type=click.IntRange(1), default=10, show_default=True, help="Seconds between two answers of a window."
)
@click.option(
    "--folder", default=".peers", show_default=True, help="Where the peers' environments and the data are kept."
)
def peers(
    as_json: bool, queries: Sequence[str], peers_: Sequence[str], rows: int | None, slide: int, folder: str
) -> None:
    """Run the same queries in other systems, compare their rows, and time those whose rows are right.

    pip installs each system into an environment of its own. A system with wrong rows is not timed.

    \b
    Examples:
      thalweg bench peers --query join --peer thalweg --peer flink
    """
    outcomes = []
    for outcome in run(queries, peers_, Setting(Path(folder), slide=slide, rows=rows)):
        outcomes.append(outcome)
        if as_json:
            click.echo(json.dumps(outcome.as_dict()))
        else:
            say(console(stderr=True), f"{outcome.query}, {PEERS[outcome.peer].title}: {outcome.verdict}")
    if not as_json:
        to = console()
        to.print(table(outcomes))
        for line in notes(outcomes):
            say(to, line)
