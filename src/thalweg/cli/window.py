"""`thalweg window`: a window, drawn."""

from __future__ import annotations

import click

from thalweg.core.errors import DataError
from thalweg.core.rows import Value
from thalweg.explain.timeline import Given, timeline


@click.command(short_help="Draw a window as a timeline.")
@click.argument("window", metavar="WINDOW")
@click.option("--arrivals", metavar="'T T=VALUE ...'", help="When tuples arrive. [default: a few]")
@click.option("--until", metavar="T", type=int, help="The last instant to draw.")
def window(window: str, arrivals: str | None, until: int | None) -> None:
    """Draw a line for each tuple, from the instant when it enters WINDOW to the instant when it leaves.

    WINDOW is the text between CQL's brackets, without units of time: an instant of the drawing may be a second or an
    hour. A circle marks a tuple that the window does not show when it arrives, an arrow a tuple that stays. If the
    window names columns, give each arrival values for them: 1=x, or 1=x,7 for two columns.

    \b
    Examples:
      thalweg window "RANGE 5 SLIDE 2"
      thalweg window "RANGE 4 SLIDE 4" --arrivals "1 2 5 5" --until 12
      thalweg window "PARTITION BY k ROWS 1" --arrivals "1=x 2=y 3=x"
      thalweg window "RANGE 10 ON price" --arrivals "1=5 2=12 3=3 4=16"
    """
    given = None if arrivals is None else [_arrival(word) for word in arrivals.split()]
    click.echo(timeline(window, given, until))


def _arrival(word: str) -> Given:
    """`3`, or `3=x,7`."""
    ts, has_values, values = word.partition("=")
    try:
        instant = int(ts)
    except ValueError:
        raise DataError(
            f"--arrivals: {word} does not start with an instant",
            hint="write 3 for a tuple that arrives at 3, or 3=x for one with the value x",
        ) from None
    return (instant, *map(_value, values.split(","))) if has_values else instant


def _value(text: str) -> Value:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
