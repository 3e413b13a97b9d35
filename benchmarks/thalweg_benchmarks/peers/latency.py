"""Latency: the time from a row's arrival until the program prints the change that the row causes.

A row arrives as a file in a folder, which every system can read. The next row arrives a moment after the program has
printed the last one, so no row waits for another.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, Queue
from statistics import median
from threading import Thread

from thalweg_benchmarks.peers.processes import end_group
from thalweg_benchmarks.peers.streams import START

WARMING_UP, ROWS = 10, 30
_PAUSE = 0.1  # seconds between rows
_SEEN = re.compile(r"seen\D*(?:\d+, )?(\d+)\.0")


def latency(
    command: Sequence[str], folder: Path, header: str, timeout: float, environment: dict[str, str]
) -> float | None:
    """The median over `ROWS` rows, in milliseconds; None if a row is not printed in time."""
    folder.mkdir()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, **environment}, start_new_session=True,
    )  # fmt: skip
    seen: Queue[tuple[int, float]] = Queue()
    listener = Thread(target=_listen, args=(process, seen), daemon=True)
    listener.start()
    try:
        spent = [_one(number, folder, header, seen, timeout) for number in range(WARMING_UP + ROWS)]
    except Empty:
        return None
    finally:
        end_group(process.pid)
        process.wait()
        listener.join()
    return 1000 * median(spent[WARMING_UP:])


def _listen(process: subprocess.Popen[str], seen: Queue[tuple[int, float]]) -> None:
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            if found := _SEEN.search(line):
                seen.put((int(found[1]), time.perf_counter()))


def _one(number: int, folder: Path, header: str, seen: Queue[tuple[int, float]], timeout: float) -> float:
    """Seconds from the arrival of row `number` until it is printed."""
    time.sleep(_PAUSE)
    hidden = (
        folder.parent / f"{number}.hidden"
    )  # outside the folder until it is complete: some systems read every file in it
    hidden.write_text(f"{header}{START + 1000 * number + 1},{number % 3},{number}.0\n")
    began, until = time.perf_counter(), time.perf_counter() + timeout
    hidden.rename(folder / f"{number:04d}.csv")
    while True:
        what, when = seen.get(timeout=max(0.0, until - time.perf_counter()))
        if what == number:
            return when - began
