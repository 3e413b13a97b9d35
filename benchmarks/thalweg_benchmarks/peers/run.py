"""Every program of every peer as a process: first the rows that it gives, then, if they are right, its times.

Time is taken as a line, start-up plus rows divided by a rate: two runs over so many rows and a quarter of them give
both, whatever a system does before the first row and while its compilers warm up. Rows are made four times as many
until they cost some seconds more than before, so that slow systems need few. Answers are computed and thrown away in
those runs.
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
from thalweg_benchmarks.peers.cannot import why_not
from thalweg_benchmarks.peers.data import write
from thalweg_benchmarks.peers.environments import PEERS, NoEnvironmentError, Peer, python_of
from thalweg_benchmarks.peers.latency import latency
from thalweg_benchmarks.peers.lines import lines_of_program
from thalweg_benchmarks.peers.outcome import Outcome, Verdict
from thalweg_benchmarks.peers.processes import Done, run_process
from thalweg_benchmarks.peers.queries import QUERIES, Query

PROGRAMS = Path(__file__).parent / "programs"
SOURCES = (Path(thalweg.__file__).parents[1], Path(thalweg_benchmarks.__file__).parents[1])
FILES = 64  # of a stream whose rows are compared: several micro-batches
MORE = 4  # each run has so many times the rows of the one before
STEPS = 2  # and there are at most so many runs after the first
WITH_LATENCY = "last-ten"  # in which every row changes the answer at once
WAITING = 90.0  # seconds for the first row to be seen
ENOUGH = 10.0  # seconds that the last run should take longer than the one before


@dataclass(frozen=True)
class Setting:
    """How everything is run: where environments and data lie, and with what."""

    folder: Path = Path(".peers")
    cores: int = 2
    slide: int = 10  # seconds between two answers of those who do not tell of each change
    rows: int | None = None  # instead of each query's own
    timeout: float = 900.0
    timed: bool = True
    longer: float = 1.02  # times what the run before took that the last one must take, or the rate is noise
    programs: Path = PROGRAMS

    def told(self, command: list[str], data: Path, out: str) -> tuple[list[str], dict[str, str]]:
        """What a program is told: in its arguments, or, where a runner wants those, in the environment."""
        told = {"DATA": str(data), "OUT": out, "CORES": str(self.cores), "SLIDE": str(self.slide)}
        home = (
            os.pathsep.join(map(str, SOURCES)) if command[0] == sys.executable else ""
        )  # other environments are without ours
        more = {**told, "PYTHONPATH": home, "PYSPARK_PYTHON": command[0], "PATHWAY_THREADS": str(self.cores)}
        return ([*command] if "-m" in command else [*command, *told.values()]), more

    def data(self, query: Query, rows: int, rows_of_file: int, layouts: Iterable[str]) -> Path:
        """The rows of a query on disk."""
        return write(self.folder.absolute() / "data", query.workload, rows, rows_of_file, sorted(layouts))


def run(queries: Sequence[str] = (), peers: Sequence[str] = (), setting: Setting | None = None) -> Iterator[Outcome]:
    """One query after the other, and for each one peer after the other; without names all of them."""
    setting = setting or Setting()
    for query in [QUERIES[name] for name in queries or QUERIES]:
        for peer in [PEERS[name] for name in peers or PEERS]:
            yield measure(query, peer, setting)


def measure(query: Query, peer: Peer, setting: Setting) -> Outcome:
    """One peer on one query."""
    program = setting.programs / peer.name / f"{query.name}.py"
    reason = why_not(peer.name, query.name)
    if reason:
        return Outcome(query.name, peer.name, "cannot express", reason)
    try:
        python = python_of(peer, setting.folder)
    except NoEnvironmentError as error:
        return Outcome(query.name, peer.name, "not here", str(error))
    command = _command(python, peer, setting, program)
    found = _rows(query, peer, setting, command).known(lines=lines_of_program(program))
    if found.verdict != "right" or not setting.timed:
        return found
    found = _times(query, peer, setting, command, found)
    return found.known(latency_ms=_latency(peer, setting, python)) if query.name == WITH_LATENCY else found


def _rows(query: Query, peer: Peer, setting: Setting, command: list[str]) -> Outcome:
    """Run it once over few rows, and look at what it gives."""
    rows = min(query.compared, setting.rows or query.compared)
    data = setting.data(query, rows, max(1, rows // FILES), {"parquet", peer.layout})
    database = connect()
    expect(database, query, data)
    with TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        out.mkdir()
        done = _run(command, data, str(out), setting, Path(scratch))
        if done.failed:
            return Outcome(query.name, peer.name, "failed", done.failed)
        difference = compare(database, query, out)
    verdict: Verdict = "right" if difference.equal else "wrong"
    return Outcome(query.name, peer.name, verdict, "; ".join(difference.examples), difference=difference)


def _times(query: Query, peer: Peer, setting: Setting, command: list[str], found: Outcome) -> Outcome:
    """Rate, start-up and memory."""
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
    rate = min(rate, setting.cores * worked)  # if it is more, others kept the cores busy during the first run
    startup = max(0.0, quick.seconds - few / rate)
    return found.known(rows=rows, rows_per_s=rate, rows_per_cpu_s=worked, startup_s=startup, peak_mb=slow.peak_mb)


def _timed(query: Query, peer: Peer, setting: Setting, command: list[str], rows: int) -> Done:
    data = setting.data(query, rows, query.rows_of_file, {peer.layout})
    with TemporaryDirectory() as scratch:
        return _run(command, data, "-", setting, Path(scratch))


def _latency(peer: Peer, setting: Setting, python: str) -> float | None:
    """Of the peer's program that takes rows one by one, if it has one."""
    program = setting.programs / peer.name / "latency.py"
    if not program.exists():
        return None
    header = "ts,k,v\n" if peer.layout == "headed" else ""
    with TemporaryDirectory() as scratch:
        rows = Path(scratch) / "rows"
        command, environment = setting.told(_command(python, peer, setting, program), rows, "-")
        return latency(command, rows, header, WAITING, {**environment, "TMPDIR": scratch})


def _command(python: str, peer: Peer, setting: Setting, program: Path) -> list[str]:
    return [python, *(part.format(cores=setting.cores) for part in peer.runner), str(program)]


def _run(command: list[str], data: Path, out: str, setting: Setting, scratch: Path) -> Done:
    told, environment = setting.told(command, data, out)
    return run_process(told, setting.cores, scratch, setting.timeout, environment)
