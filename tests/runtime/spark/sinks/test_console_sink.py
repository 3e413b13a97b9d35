"""Would catch a console sink that lets data steer the terminal."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from thalweg.algebra.catalog import Catalog
from thalweg.cql import compile_query, compile_script
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.spark.sinks.base import SinkContext
from thalweg.runtime.spark.sinks.console import draw


def test_control_characters_are_shown_as_escapes(tmp_path: Path) -> None:
    catalog = Catalog()
    compile_script("CREATE STREAM s (a STRING);", catalog)
    context = SinkContext(compile_query("SELECT a FROM s [RANGE 1]", catalog), False, Checkpoint(tmp_path))
    console = Console(file=io.StringIO(), width=100, markup=False)
    rows = [("\x1b]0;title\x07 [bold]x\u202e", 1)]
    console.print(draw(context, rows, rows, 20, "at \x1b"))
    out = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b" not in out and "\x07" not in out and "\u202e" not in out
    assert r"\x1b]0;title\x07 [bold]x\u202e" in out and r"at \x1b" in out
