"""`thalweg bench peers`: what other systems give for the same questions."""

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


@click.command(short_help="Other systems, asked the same questions over the same rows.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line, as soon as anything is known.")
@click.option(
    "--query", "queries", multiple=True, type=click.Choice(list(QUERIES)), help="This one only; may be given again."
)
@click.option(
    "--peer", "peers_", multiple=True, type=click.Choice(list(PEERS)), help="This one only; may be given again."
)
@click.option("--rows", type=click.IntRange(1), help="Take the time over up to so many rows.")
@click.option("--slide", type=click.IntRange(1), default=10, show_default=True, help="Seconds between answers.")
@click.option("--folder", default=".peers", show_default=True, help="For the peers' environments and the data.")
def peers(
    as_json: bool, queries: Sequence[str], peers_: Sequence[str], rows: int | None, slide: int, folder: str
) -> None:
    """Ask other systems the same questions, and take the time of those that give the right rows.

    An environment is made for each with pip. Nothing is timed whose rows are wrong.

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
