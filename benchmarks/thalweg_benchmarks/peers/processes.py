"""Run a program as a process; measure its time, and the processor time and memory of it and its descendants."""

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
_NAMED_ERROR = re.compile(r"^[\w.]*(Error|Exception)\b")
_TICKS = os.sysconf("SC_CLK_TCK")
_EVERY = 0.1  # seconds between two readings


@dataclass(frozen=True)
class EndedProcess:
    """A process that has ended by itself, or that was killed after the timeout."""

    seconds: float
    cpu_seconds: float  # of all cores, as last read for each process
    peak_mb: float
    code: int | None  # None: killed after the timeout
    said: str  # the end of its output

    @property
    def failed(self) -> str:
        """Why it failed, from the end of its output; empty if it did not fail."""
        if self.code is None:
            return f"not done after {self.seconds:.0f} s"
        if self.code == 0:
            return ""
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        errors = [line for line in lines if _NAMED_ERROR.search(line)]
        return (errors or lines or [f"ended with code {self.code}"])[-1]


def run_process(
    command: Sequence[str], cores: int, scratch: Path, timeout: float, more: Mapping[str, str] | None = None
) -> EndedProcess:
    """Run a command on `cores` cores with temporary files in `scratch`; kill all descendants when it has ended."""
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
    return EndedProcess(seconds, sum(seen.cpu.values()), seen.peak, code, log.read_text(errors="replace")[-20000:])


def _pin(pid: int, cores: int) -> None:
    """Restrict the process and its descendants to the first `cores` cores."""
    allowed = sorted(os.sched_getaffinity(0))
    if cores < len(allowed):
        os.sched_setaffinity(pid, allowed[:cores])


class _Seen:
    """Processor time and peak memory of a tree of processes so far."""

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
    """Kill the processes that are left in the session of `pid`."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _tree(pid: int) -> dict[int, float]:
    """A process and its descendants, with the processor time of each in seconds."""
    children: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # the process has ended
            one = int(folder.name)
            children.setdefault(int(fields[1]), []).append(one)
            spent[one] = (int(fields[11]) + int(fields[12])) / _TICKS
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return {one: spent.get(one, 0.0) for one in found}


def _memory(pid: int) -> int:
    """Memory in kilobytes, shared pages divided by their users (Linux's PSS); 0 if the process has ended."""
    try:
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0
