"""Run every peer's program as a process: compare its rows first, then, if they are right, time it.

The model of time is a line: seconds = start-up + rows / rate. Two runs, one with a quarter of the other's rows, give
both numbers, so start-up includes everything before the first row and the warming-up of compilers. The number of rows
is multiplied by four until the longer run takes `ENOUGH` seconds more, so that slow systems are timed over few rows.
Timed runs compute their answers and discard them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import thalweg
import thalweg_benchmarks
from thalweg_benchmarks.peers.answers import compare, connect, expect
from thalweg_benchmarks.peers.data import write
from thalweg_benchmarks.peers.environments import PEERS, NoEnvironmentError, Peer, python_of
from thalweg_benchmarks.peers.latency import latency
from thalweg_benchmarks.peers.lines import lines_of_program
from thalweg_benchmarks.peers.outcome import PeerOutcome, PeerVerdict
from thalweg_benchmarks.peers.processes import EndedProcess, run_process
from thalweg_benchmarks.peers.queries import QUERIES, PeerQuery, why_not

PROGRAMS = Path(__file__).parent / "programs"
SOURCES = (Path(thalweg.__file__).parents[1], Path(thalweg_benchmarks.__file__).parents[1])
FILES = 64  # that a stream is cut into where rows are compared: several micro-batches
MORE = 4  # rows of a run / rows of the run before
STEPS = 2  # runs after the first, at most
WITH_LATENCY = "last-ten"  # its answer changes at once with every row
WAITING = 90.0  # seconds until a row must be printed
ENOUGH = 10.0  # seconds by which the last run should exceed the one before


@dataclass(frozen=True)
class Setting:
    """Options of a run: where environments and data are, how many cores, and limits."""

    folder: Path = Path(".peers")
    cores: int = 2
    slide: int = 10  # seconds between two answers of systems that do not emit every change
    rows: int | None = None  # in place of each query's own number
    timeout: float = 900.0
    timed: bool = True
    longer: float = 1.02  # time of the last run / of the one before: below this the rate is noise
    programs: Path = PROGRAMS

    def invocation(self, command: list[str], data: Path, out: str) -> tuple[list[str], dict[str, str]]:
        """A program's command line and environment; a runner takes the arguments itself, so they are in both."""
        arguments = {"DATA": str(data), "OUT": out, "CORES": str(self.cores), "SLIDE": str(self.slide)}
        home = (
            os.pathsep.join(map(str, SOURCES)) if command[0] == sys.executable else ""
        )  # the peers' own environments do without
        more = {**arguments, "PYTHONPATH": home, "PYSPARK_PYTHON": command[0], "PATHWAY_THREADS": str(self.cores)}
        return ([*command] if "-m" in command else [*command, *arguments.values()]), more

    def data(self, query: PeerQuery, rows: int, rows_of_file: int, layouts: Iterable[str]) -> Path:
        """The folder with a query's rows, written first if they do not exist."""
        return write(self.folder.absolute() / "data", query.workload, rows, rows_of_file, sorted(layouts))


def run(
    queries: Sequence[str] = (), peers: Sequence[str] = (), setting: Setting | None = None
) -> Iterator[PeerOutcome]:
    """Run the named queries on the named peers, one at a time; without names, all of them."""
    setting = setting or Setting()
    for query in [QUERIES[name] for name in queries or QUERIES]:
        for peer in [PEERS[name] for name in peers or PEERS]:
            yield measure(query, peer, setting)


def measure(query: PeerQuery, peer: Peer, setting: Setting) -> PeerOutcome:
    """Run one peer on one query."""
    program = setting.programs / peer.name / f"{query.name}.py"
    reason = why_not(peer.name, query.name)
    if reason:
        return PeerOutcome(query.name, peer.name, "cannot express", reason)
    try:
        python = python_of(peer, setting.folder)
    except NoEnvironmentError as error:
        return PeerOutcome(query.name, peer.name, "not here", str(error))
    command = _command(python, peer, setting, program)
    found = _rows(query, peer, setting, command).known(lines=lines_of_program(program))
    if found.verdict != "right" or not setting.timed:
        return found
    found = _times(query, peer, setting, command, found)
    return found.known(latency_ms=_latency(peer, setting, python)) if query.name == WITH_LATENCY else found


def _rows(query: PeerQuery, peer: Peer, setting: Setting, command: list[str]) -> PeerOutcome:
    """Run the program once over few rows and compare its rows with the expected ones."""
    rows = min(query.compared, setting.rows or query.compared)
    data = setting.data(query, rows, max(1, rows // FILES), {"parquet", peer.layout})
    database = connect()
    expect(database, query, data)
    with TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        out.mkdir()
        done = _run(command, data, str(out), setting, Path(scratch))
        if done.failed:
            return PeerOutcome(query.name, peer.name, "failed", done.failed)
        difference = compare(database, query, out)
    verdict: PeerVerdict = "right" if difference.equal else "wrong"
    return PeerOutcome(query.name, peer.name, verdict, "; ".join(difference.examples), difference=difference)


def _times(query: PeerQuery, peer: Peer, setting: Setting, command: list[str], found: PeerOutcome) -> PeerOutcome:
    """Add rate, start-up and memory to an outcome."""
    rows = max(1, (setting.rows or query.rows) // MORE**STEPS)
    few, slow = rows, _timed(query, peer, setting, command, rows)
    for _ in range(STEPS):
        if slow.failed:
            break
        rows, (few, quick) = rows * MORE, (rows, slow)
        slow = _timed(query, peer, setting, command, rows)
        if slow.seconds - quick.seconds >= ENOUGH:
            break
    if slow.failed:
        return found.known(verdict="failed", why=slow.failed, rows=rows)
    if slow.seconds < setting.longer * quick.seconds:
        return found.known(why=f"{rows:,} rows take no longer than {few:,}: give more with --rows", rows=rows)
    worked = (rows - few) / max(1e-3, slow.cpu_seconds - quick.cpu_seconds)
    rate = (rows - few) / max(1e-3, slow.seconds - quick.seconds)
    rate = min(
        rate, setting.cores * worked
    )  # a higher rate means that other processes used the cores during the first run
    startup = max(0.0, quick.seconds - few / rate)
    return found.known(rows=rows, rows_per_s=rate, rows_per_cpu_s=worked, startup_s=startup, peak_mb=slow.peak_mb)


def _timed(query: PeerQuery, peer: Peer, setting: Setting, command: list[str], rows: int) -> EndedProcess:
    data = setting.data(query, rows, query.rows_of_file, {peer.layout})
    with TemporaryDirectory() as scratch:
        return _run(command, data, "-", setting, Path(scratch))


def _latency(peer: Peer, setting: Setting, python: str) -> float | None:
    """The latency of the peer's program that takes rows one by one; None if there is no such program."""
    program = setting.programs / peer.name / "latency.py"
    if not program.exists():
        return None
    header = "ts,k,v\n" if peer.layout == "headed" else ""
    with TemporaryDirectory() as scratch:
        rows = Path(scratch) / "rows"
        command, environment = setting.invocation(_command(python, peer, setting, program), rows, "-")
        return latency(command, rows, header, WAITING, {**environment, "TMPDIR": scratch})


def _command(python: str, peer: Peer, setting: Setting, program: Path) -> list[str]:
    return [python, *(part.format(cores=setting.cores) for part in peer.runner), str(program)]


def _run(command: list[str], data: Path, out: str, setting: Setting, scratch: Path) -> EndedProcess:
    command, environment = setting.invocation(command, data, out)
    return run_process(command, setting.cores, scratch, setting.timeout, environment)
