"""The processes of a program that runs on Spark: which is which, and how to kill one."""

from __future__ import annotations

import os
import random
import signal
from contextlib import suppress
from pathlib import Path


def children(pid: int) -> list[int]:
    """The processes that a process has started and that still run."""
    found = []
    with suppress(OSError):  # the process, or a thread of it, may end while it is looked at
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def descendants(pid: int) -> list[int]:
    """These, and theirs, and so on."""
    found = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def command(pid: int) -> str:
    """How a process was called; nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def memory(pid: int) -> int:
    """The resident bytes of a process, with what it shares with others in equal parts; 0 if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def java(driver: int) -> list[int]:
    """The Java process of a Python driver."""
    return [
        pid for pid in descendants(driver) if "org.apache.spark.deploy.SparkSubmit" in command(pid) and _is_java(pid)
    ]


def _is_java(pid: int) -> bool:
    """Whether it is Spark's Java, not the script that starts it nor the Java that only prints its command line."""
    words = command(pid).split()
    return bool(words) and words[0].endswith("java") and "org.apache.spark.launcher.Main" not in words


def workers(ancestor: int) -> list[int]:
    """Python's worker processes: those that Spark's daemon has forked."""
    daemons = [pid for pid in descendants(ancestor) if "pyspark.daemon" in command(pid)]
    return [child for daemon in daemons for child in children(daemon)]


def executors(ancestor: int) -> list[int]:
    """The executors of a cluster's worker."""
    return [pid for pid in descendants(ancestor) if "CoarseGrainedExecutorBackend" in command(pid)]


def kill(pids: list[int], draw: random.Random) -> int | None:
    """Kill one of some processes at once, without a chance to clean up; None if there is none."""
    if not pids:
        return None
    victim = draw.choice(pids)
    with suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
    return victim
