"""A program as a process: how long it takes, and what processor time and memory it and all that it starts take."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TELLING = re.compile(r"^[\w.]*(Error|Exception)\b")
_TICKS = os.sysconf("SC_CLK_TCK")
_EVERY = 0.1  # seconds between looks


@dataclass(frozen=True)
class Done:
    """A process that has ended, or was ended because it took too long."""

    seconds: float
    cpu_seconds: float  # of all processors together, as last seen of each process
    peak_mb: float
    code: int | None  # None: it took too long
    said: str  # the end of what it wrote

    @property
    def failed(self) -> str:
        """Why it did not end well, in its own last words; empty if it did."""
        if self.code is None:
            return f"not done after {self.seconds:.0f} s"
        if self.code == 0:
            return ""
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        telling = [line for line in lines if _TELLING.search(line)]
        return (telling or lines or [f"ended with code {self.code}"])[-1]


def run_process(
    command: Sequence[str], cores: int, scratch: Path, timeout: float, more: Mapping[str, str] | None = None
) -> Done:
    """Run a command on so many cores; temporary files go to `scratch`, and all that it started is ended with it."""
    log = scratch / "log.txt"
    environment = {**os.environ, "TMPDIR": str(scratch), **(more or {})}
    began = time.perf_counter()
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env=environment, cwd=scratch,
            start_new_session=True,
        )  # fmt: skip
        _pin(process.pid, cores)
        seen = _Seen()
        try:
            code = _watch(process, began + timeout, seen)
            seconds = time.perf_counter() - began
        finally:
            end_group(process.pid)
    return Done(seconds, sum(seen.cpu.values()), seen.peak, code, log.read_text(errors="replace")[-20000:])


def _pin(pid: int, cores: int) -> None:
    """The process, and what it will start, may use the first cores only."""
    allowed = sorted(os.sched_getaffinity(0))
    if cores < len(allowed):
        os.sched_setaffinity(pid, allowed[:cores])


class _Seen:
    """What was seen of a tree of processes so far."""

    def __init__(self) -> None:
        self.cpu: dict[int, float] = {}  # by process
        self.peak = 0.0

    def look(self, pid: int) -> None:
        tree = _tree(pid)
        self.cpu.update(tree)
        self.peak = max(self.peak, sum(_memory(one) for one in tree) / 1024)


def _watch(process: subprocess.Popen[bytes], until: float, seen: _Seen) -> int | None:
    while process.poll() is None:
        seen.look(process.pid)
        if time.perf_counter() > until:
            end_group(process.pid)
            process.wait()
            return None
        time.sleep(_EVERY)
    return process.returncode


def end_group(pid: int) -> None:
    """End what the process has left behind in its session."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _tree(pid: int) -> dict[int, float]:
    """A process and its descendants, each with the seconds of processor time that it has had."""
    children: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            one = int(folder.name)
            children.setdefault(int(fields[1]), []).append(one)
            spent[one] = (int(fields[11]) + int(fields[12])) / _TICKS
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return {one: spent.get(one, 0.0) for one in found}


def _memory(pid: int) -> int:
    """Kilobytes; what several share is counted once in all (Linux's PSS). 0 for a process that has ended meanwhile."""
    try:
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0
