"""`thalweg demo --spark`: a standing query over generated connections, on a local Spark, for some seconds."""

from __future__ import annotations

import tempfile
from pathlib import Path

from thalweg.algebra.catalog import Catalog
from thalweg.cli.output import console, say
from thalweg.cli.script import checked_queries, read_script
from thalweg.cli.sources import parse_source
from thalweg.cli.spark.run_command import RunCommand

SCRIPT = Path(__file__).parent / "live.cql"
SOURCE = "connections=generator:connections?rate=2000&speed=2&hosts=200"


def live(seconds: float) -> None:
    """Print the query, then run it for some seconds."""
    to, script, catalog = console(), read_script(str(SCRIPT)), Catalog()
    for line in script.text.rstrip().split("\n"):
        say(to, line, "dim" if line.startswith("--") else "")
    queries = checked_queries(script, catalog)
    source = parse_source(SOURCE)
    say(to, "")
    say(
        to, f"starting a local Spark, then 4,000 made-up connections a second for {seconds:g} s; Ctrl-C ends it", "bold"
    )
    with tempfile.TemporaryDirectory(prefix="thalweg-demo-") as folder:
        running = RunCommand(catalog, queries, {source.name: source}, Path(folder), None, None, (), 8)
        running.run(until_done=False, seconds=seconds, verify=False)
    say(to, "")
    say(to, f"Next: thalweg run {SCRIPT} --source '{SOURCE}' --checkpoint demo/", "bold")
