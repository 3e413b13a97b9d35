"""`thalweg flow add`, `drop`, `list` and `show`: the catalogue of a flow; see also `start` and `top`."""

from __future__ import annotations

import click

from thalweg.algebra.catalog import Catalog
from thalweg.cli.flow.folder import folder_at
from thalweg.cli.flow.start import start
from thalweg.cli.flow.top import top
from thalweg.cli.output import console, json_text, say
from thalweg.cli.output.tables import Columns
from thalweg.cli.script import midnight, read_script
from thalweg.core.visible import visible_json
from thalweg.cql import compile_query, compile_script
from thalweg.flows.command import find
from thalweg.flows.standing import Quotas
from thalweg.patterns import check


@click.group(short_help="Keep many standing queries that share their work.")
def flow() -> None:
    """Standing queries that come and go by id, kept in the folder FLOWDIR and run together.

    FLOWDIR has a log of the queries that were added and dropped; several people may write to it, even while the flow
    runs. It may also be the checkpoint of a flow on Spark.

    \b
    Examples:
      thalweg flow add alerts/ "SELECT COUNT(*) FROM s [RANGE 60]" --name busy
      thalweg flow list alerts/
      thalweg flow start alerts/ streams.cql --input s=rows.csv
      thalweg flow top alerts/
      thalweg flow drop alerts/ busy
    """


@flow.command(short_help="Add a query to a flow.")
@click.argument("flowdir", metavar="FLOWDIR")
@click.argument("cql", metavar="CQL")
@click.option("--name", help="A name for the query. [default: its id]")
@click.option("--owner", help="The query's owner.")
@click.option("--backfill", is_flag=True, help="Start the query from the tuples that the flow holds.")
@click.option("--results", type=click.IntRange(min=0), help="Quota: suspend the query after this many results.")
@click.option("--results-per-second", type=click.IntRange(min=0), help="Quota: the same for each second of event time.")
@click.option("--state", type=click.IntRange(min=0), help="Quota: suspend the query when its state has more tuples.")
@click.option("--against", metavar="FILE.cql", help="Check the query against the streams that this file declares.")
@click.option("--json", "as_json", is_flag=True, help="Print the command as the catalogue keeps it.")
def add(
    flowdir: str,
    cql: str,
    name: str | None,
    owner: str | None,
    backfill: bool,
    results: int | None,
    results_per_second: int | None,
    state: int | None,
    against: str | None,
    as_json: bool,
) -> None:
    """Add the query CQL to the flow in FLOWDIR, and print its id. `-` as CQL reads standard input.

    The folder is created if there is none. A running flow starts the query within a moment. Without --against only the
    syntax is checked here; if FLOWDIR is the checkpoint of a flow on Spark, the query is checked against its streams.
    """
    text = read_script(cql).text if cql == "-" else cql
    if against is not None:
        declared = Catalog()
        compile_script(read_script(against).text, declared, against, midnight())
        check(compile_query(text, declared, today=midnight()))
    quotas = Quotas(results, results_per_second, state).given()
    added = folder_at(flowdir, there=False).add(text, name or "", owner or "", backfill, quotas, midnight())
    click.echo(visible_json(added.line().rstrip("\n")) if as_json else added.id)


@flow.command(short_help="Take a query out of a flow.")
@click.argument("flowdir", metavar="FLOWDIR")
@click.argument("query", metavar="ID")
def drop(flowdir: str, query: str) -> None:
    """Drop the query with this id, or name, from the flow in FLOWDIR; a running flow ends it within a moment."""
    click.echo(folder_at(flowdir).drop(query).id)


@flow.command("list", short_help="List the queries of a flow.")
@click.argument("flowdir", metavar="FLOWDIR")
@click.option("--owner", help="List only the queries of this owner.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per query.")
def list_(flowdir: str, owner: str | None, as_json: bool) -> None:
    """List the queries of the flow in FLOWDIR, in the order in which they were added."""
    found = [c for c in folder_at(flowdir).live.values() if owner in (None, c.owner)]
    if as_json:
        for command in found:
            click.echo(json_text(command.summary.as_json()))
        return
    columns = Columns(["id", "name", "owner", "cql"], [False] * 4)
    lines = columns.lines([(c.id, c.name, c.owner, " ".join(c.cql.split())) for c in found])
    for line in [columns.header(), *lines]:
        say(console(), line)


@flow.command(short_help="Show one query of a flow.")
@click.argument("flowdir", metavar="FLOWDIR")
@click.argument("query", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="As a JSON object.")
def show(flowdir: str, query: str, as_json: bool) -> None:
    """Show the query with this id, or name: its text, its quotas, and its metrics in the flow's last run."""
    folder = folder_at(flowdir)
    live = folder.live
    command = live[find(live, query)]
    reported = folder.metrics()
    found = next((query for query in reported.queries if query.id == command.id), None) if reported else None
    about, metrics = command.summary.as_json(), None if found is None else dict(vars(found))
    if as_json:
        click.echo(json_text({**about, "metrics": metrics}))
        return
    shown = {**about, **{k: v for k, v in (metrics or {}).items() if k not in ("id", "name", "owner")}}
    width = max(map(len, shown))
    for key, value in shown.items():
        if value not in (None, {}, ""):
            say(console(), f"{key:{width}}  {value}")


flow.add_command(start)
flow.add_command(top)
