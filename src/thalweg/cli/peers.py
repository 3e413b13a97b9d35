"""`thalweg bench peers`: what other systems give for the same questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from thalweg.bench.peers import run
from thalweg.bench.peers.environments import PEERS
from thalweg.bench.peers.queries import QUERIES
from thalweg.bench.peers.run import Setting
from thalweg.bench.peers.table import notes, table
from thalweg.cli.output import console, say


def bench_peers(
    queries: Sequence[str], peers: Sequence[str], rows: int | None, slide: int, folder: str, as_json: bool
) -> None:
    """Ask each peer each query; a table at the end, or a line of JSON as soon as anything is known."""
    outcomes = []
    for outcome in run(queries, peers, Setting(Path(folder), slide=slide, rows=rows)):
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


QUERY = click.Choice(list(QUERIES))
PEER = click.Choice(list(PEERS))
