"""`thalweg explain`: the plan of every query in a file."""

from __future__ import annotations

import json

import click

from thalweg.cli.output import console, say
from thalweg.cli.script import checked_queries, choose, read_script
from thalweg.explain import explain_json, explain_text


@click.command(short_help="Show how the queries of a file run.")
@click.argument("file", metavar="FILE.cql")
@click.option("--json", "as_json", is_flag=True, help='Print a JSON list of {"name": ..., "plan": ...}.')
@click.option("--query", "wanted", metavar="NAME", multiple=True, help="Explain only this query (repeatable).")
def explain(file: str, as_json: bool, wanted: tuple[str, ...]) -> None:
    """Show how the queries of FILE.cql run; `-` reads standard input.

    For each operator: its update pattern (MON, WKS, WK or STR: how its results come and go), the buffer that holds
    its state, how large that can grow, and why. No data is read.

    --json prints a list, also for one query; each plan is an object with its inputs under "children".

    \b
    Examples:
      thalweg explain q.cql
      thalweg explain q.cql --query busy
      thalweg explain q.cql --json | python -m json.tool
      echo 'CREATE STREAM s (a INT); SELECT a FROM s' | thalweg explain -
    """
    queries = choose(checked_queries(read_script(file)), wanted)
    if as_json:
        plans = [{"name": query.name, "plan": explain_json(query.plan)} for query in queries]
        click.echo(json.dumps(plans, indent=2, ensure_ascii=False))
        return
    to = console()
    for i, query in enumerate(queries):
        if i:
            say(to, "")
        say(to, f"QUERY {query.name}", "bold")
        for line in explain_text(query.plan).rstrip("\n").split("\n"):
            say(to, line)
