"""Standard output and standard error; without colours if NO_COLOR is set or the output is no terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from thalweg.core.visible import visible_lines

ROWS_BEFORE_PROGRESS = 1_000  # fewer rows are read too quickly to be worth a line


def console(stderr: bool = False) -> Console:
    """Standard output, or standard error; text is never parsed for markup."""
    terminal = False if os.environ.get("NO_COLOR") else None  # None: rich detects a terminal
    return Console(stderr=stderr, force_terminal=terminal, markup=False, highlight=False, emoji=False)


def say(to: Console, line: str, style: str = "") -> None:
    """Print a line, however long; characters that steer a terminal are shown as escapes."""
    to.print(Text(visible_lines(line), style=style), soft_wrap=True)


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of rows read; it shows the number if the terminal shows nothing else.

    `quiet` means that standard output prints nothing until the end.
    """
    to = console(stderr=True)
    status = to.status("")
    free = to.is_terminal and (quiet or not console().is_terminal)

    def show(rows: int) -> None:
        if free and rows >= ROWS_BEFORE_PROGRESS:
            status.update(f"{rows:,} rows read")
            status.start()

    try:
        yield show
    finally:
        status.stop()
