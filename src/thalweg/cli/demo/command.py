"""`thalweg demo`: standing queries, their plans, then the answers as they change; in this process or on Spark."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from thalweg.algebra.catalog import Catalog
from thalweg.cli.demo.frames import Frame, draw, frames
from thalweg.cli.inputs import Inputs
from thalweg.cli.output import answers, console, say
from thalweg.cli.script import checked_queries, read_script
from thalweg.cli.sources import parse_source
from thalweg.core.time import Clock, parse_timestamp
from thalweg.explain import explain_text
from thalweg.runtime.local import Session
from thalweg.runtime.local.replay import Replay

FILES = Path(__file__).parent
SCRIPT, ROWS = FILES / "demo.cql", FILES / "connections.csv"
SPARK_SCRIPT = FILES / "live.cql"
SPARK_SOURCE = "connections=generator:connections?rate=2000&speed=2&hosts=200"
END = parse_timestamp("2026-01-31 07:04:00")
PACE = 0.4  # seconds between two answers on a terminal


@click.command(short_help="Watch two standing queries at work.")
@click.option("--delay", metavar="SECONDS", type=click.FloatRange(min=0),
              help=f"Time between two answers. [default: {PACE} on a terminal, else 0]")  # fmt: skip
@click.option("--spark", is_flag=True, help="Run a standing query on a local Spark instead.")
@click.option("--seconds", type=click.FloatRange(min=0), default=20, show_default=True, help="How long, on Spark.")
def demo(delay: float | None, spark: bool, seconds: float) -> None:
    """Watch two standing queries at work: four minutes of connections, in a few seconds.

    Prints the queries, how they run (EXPLAIN), and their answers at eight instants: + marks the rows that entered an
    answer, - those that left it. The files are part of the package; the last line is a command to go on with.

    With --spark a standing query runs over generated connections for some seconds. The demo shows the changing answer,
    the rows per second, how far the answer is behind, and the tuples in the state.

    \b
    Examples:
      thalweg demo
      thalweg demo --delay 1.5
      thalweg demo --spark
      thalweg demo | less
    """
    if spark:
        import thalweg

        _ = thalweg.Engine  # raises with what to install, if pyspark is missing
        _run_on_spark(seconds)
        return
    to = console()
    text = SCRIPT.read_text(encoding="utf-8")
    for line in text.rstrip().split("\n"):
        say(to, line, "dim" if line.startswith("--") else "")
    session = Session()
    queries = session.execute(text, source=SCRIPT.name)
    for query in queries:
        say(to, f"\nEXPLAIN {query.name}", "bold")
        say(to, explain_text(query.plan).rstrip())
    inputs = Inputs(session.catalog)
    inputs.add("connections", str(ROWS))
    run = Replay(session, queries, inputs.sources(queries, Clock.TIMESTAMPS), END)
    pictures = frames(answers(run.steps()), queries)
    say(to, f"\n{run.rows} connections", "bold")
    _play(to, pictures, (PACE if to.is_terminal else 0) if delay is None else delay)
    say(to, "")
    say(to, f"Next: thalweg replay {SCRIPT} --input connections={ROWS} --query silent_hosts", "bold")


def _play(to: Console, pictures: list[Frame], delay: float) -> None:
    """Show the pictures, each in place of the one before; if the output is no terminal, one below the other."""
    if not to.is_terminal:
        for picture in pictures:
            to.print()
            to.print(draw(picture))
            time.sleep(delay)
        return
    to.print()
    with Live(Text(""), console=to, auto_refresh=False) as live:
        for picture in pictures:
            live.update(draw(picture), refresh=True)
            time.sleep(delay)


def _run_on_spark(seconds: float) -> None:
    """Print the query, then run it over generated connections for some seconds."""
    from thalweg.cli.spark.run_command import RunCommand  # imports pyspark, which the other demo does not need

    to, script, catalog = console(), read_script(str(SPARK_SCRIPT)), Catalog()
    for line in script.text.rstrip().split("\n"):
        say(to, line, "dim" if line.startswith("--") else "")
    queries = checked_queries(script, catalog)
    source = parse_source(SPARK_SOURCE)
    say(to, "")
    say(
        to, f"starting a local Spark, then 4,000 made-up connections a second for {seconds:g} s; Ctrl-C ends it", "bold"
    )
    with tempfile.TemporaryDirectory(prefix="thalweg-demo-") as folder:
        running = RunCommand(catalog, queries, {source.name: source}, Path(folder), None, None, (), 8)
        running.run(until_done=False, seconds=seconds, verify=False)
    say(to, "")
    say(to, f"Next: thalweg run {SPARK_SCRIPT} --source '{SPARK_SOURCE}' --checkpoint demo/", "bold")
