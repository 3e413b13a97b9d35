"""Commands to let time pass: files that Spark reads as a stream of lines, so it knows which batch has read which.

A line passes through the JVM as it is, and the shards check it. So a damaged command is an error, not another time.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from uuid import uuid4

from thalweg.core.time import Instant
from thalweg.runtime.distributed.checkpoint.checksums import damaged, open_json, sealed_json
from thalweg.runtime.distributed.checkpoint.files import read_bytes, replace_file

CONTROL = "control"  # the folder
_CLOCK = "clock"  # a time, or null if no more rows will come
_VERSION = 2  # before that a line had neither a version nor a checksum


def write_command(folder: Path, clock: Instant | None) -> None:
    """Let time pass up to `clock`, or, with None, expect no more rows."""
    name = f"{datetime.now().strftime('%Y%m%d%H%M%S%f')}-{uuid4().hex[:6]}.json"
    replace_file(folder / name, sealed_json({"version": _VERSION, _CLOCK: clock}) + b"\n")


def read_command(path: Path, line: bytes) -> Instant | None:
    """The time in a command's line; None if no more rows will come."""
    tree = open_json(path, line, _VERSION)
    clock = tree.get(_CLOCK, "")
    if tree.keys() - {"version", _CLOCK} or not (clock is None or type(clock) is int):
        raise damaged(path, "a command must give a clock, a whole number or null, and nothing else")
    return clock


def check_commands(folder: Path, pattern: str = "*.json") -> None:
    """Raise a CheckpointError if a command is damaged: Spark would not notice a file that has lost its line."""
    for path in sorted(folder.glob(pattern)):
        read_command(path, read_bytes(path).rstrip(b"\n"))
