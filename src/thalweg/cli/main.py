"""The command `thalweg`: its subcommands, and how errors reach the user."""

from __future__ import annotations

from typing import Any

import click

import thalweg
from thalweg.cli.bench import bench
from thalweg.cli.demo import demo
from thalweg.cli.explain import explain
from thalweg.cli.flow import flow
from thalweg.cli.output import console, say
from thalweg.cli.replay import replay
from thalweg.cli.run import run
from thalweg.cli.scenario import scenario
from thalweg.cli.state import state
from thalweg.cli.verify import verify
from thalweg.cli.window import window
from thalweg.core.errors import ThalwegError
from thalweg.core.memory import keep_freed

WRONG_INPUT = 2  # also click's code for wrong usage


class CommandGroup(click.Group):
    """A group that prints a ThalwegError of its commands as a message, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was given."""
        try:
            return super().invoke(ctx)
        except ThalwegError as error:
            first, *rest = str(error).split("\n")
            to = console(stderr=True)
            say(to, f"error: {first}", "bold red")
            for line in rest:
                say(to, line)
            ctx.exit(WRONG_INPUT)


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(thalweg.__version__, prog_name="thalweg")
def main() -> None:
    """Exact answers to standing queries over streams and changing tables.

    \b
    Start here:
      thalweg demo                             two queries at work, in seconds
      thalweg window "RANGE 5 SLIDE 2"         a window, drawn as a timeline
      thalweg explain q.cql                    how the queries of a file run
      thalweg replay q.cql --input s=rows.csv  run them over recorded rows
      thalweg run q.cql --source s=csv:rows/   run them on Spark, as rows come
      thalweg flow add alerts/ "SELECT ..."    many queries that share their work

    \b
    A .cql file holds statements that end with a semicolon:
      CREATE STREAM s (ts TIMESTAMP, a INT, b STRING) TIMESTAMP BY ts;
      REGISTER QUERY busy AS
        SELECT b, COUNT(*) AS n FROM s [RANGE 5 MINUTES] GROUP BY b;
    """
    keep_freed()


for command in (bench, demo, explain, flow, replay, run, scenario, state, verify, window):
    main.add_command(command)
