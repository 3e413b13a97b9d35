"""`thalweg scenario`: run scenario files and show where an answer differs."""

from __future__ import annotations

from pathlib import Path

import click

from thalweg.cli.output import console, say
from thalweg.cli.script import read_script
from thalweg.runtime.local.session import STRATEGIES
from thalweg.scenarios import LocalEngine, parse_scenario, run_scenario


@click.command(short_help="Check scenario files: CQL, timed rows, expected answers.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--batch", "batch_size", type=click.IntRange(min=1), help="Feed that many events at a time.")
@click.option("--strategy", type=click.Choice(STRATEGIES), default="auto", show_default=True,
              help="How to run the queries; ita drops expired results late, by design.")  # fmt: skip
@click.pass_context
def scenario(ctx: click.Context, files: tuple[Path, ...], batch_size: int | None, strategy: str) -> None:
    """Run scenario FILES on the local engine and compare every answer they expect.

    A scenario is a text file of CQL, timed signed rows, and the rows expected at each instant. Exits with 1 if an
    answer differs.

    \b
      == cql
      CREATE STREAM s (a INT, b STRING);
      REGISTER QUERY q AS SELECT b, SUM(a) AS n FROM s [RANGE 5] GROUP BY b;
      == input
      + 1 s | 10 | x            a row arrives; ~ replaces and - deletes one of a
      + 3 s | 20 | x            table, @ 9 lets time pass up to 9
      @ 9
      == answer q
      at 1..2                   indented below: all rows of the answer then
        x | 10
      at 3..5
        x | 30
      at 8..9                   nothing below: the answer is empty

    More expectations are written as == changes q, == late s and == refused: see docs/howto/testing.md.

    \b
    Examples:
      thalweg scenario tests/scenarios/*.scenario
      thalweg scenario --batch 1 mine.scenario
    """
    to, failed = console(), 0
    for file in files:
        parsed = parse_scenario(read_script(str(file)).text, str(file))
        mismatches = run_scenario(parsed, LocalEngine(None, strategy), batch_size)
        failed += bool(mismatches)
        say(to, f"{'differs' if mismatches else 'ok':8}{file.name}", "bold red" if mismatches else "green")
        for mismatch in mismatches:
            say(to, str(mismatch))
    say(to, f"{len(files) - failed} passed, {failed} failed")
    ctx.exit(1 if failed else 0)
