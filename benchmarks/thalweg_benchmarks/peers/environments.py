"""Where peers live: a virtual environment for each, made when it is first needed, with versions that were tried."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True)
class Peer:
    """A system, the layout of the data that it reads, and what pip must install for it (if anything)."""

    name: str
    title: str
    layout: str
    requires: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # modules that must be importable where Thalweg is
    streaming: bool = True  # whether it keeps answers up to date, rather than asks again
    runner: tuple[str, ...] = ()  # what stands between Python and the program; {cores} is filled in


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("thalweg", "Thalweg", "parquet", needs=("pyspark",)),
        Peer("spark", "Spark", "parquet", needs=("pyspark",)),
        Peer("flink", "Flink SQL", "csv", ("apache-flink==2.3.0",)),
        Peer("pathway", "Pathway", "headed", ("pathway==0.33.0",)),
        Peer(
            "bytewax",
            "Bytewax",
            "csv",
            ("bytewax==0.21.1", "pyarrow==26.0.1", "numpy==2.4.6"),
            runner=("-m", "bytewax.testing", "-p{cores}"),
        ),
        Peer("duckdb", "DuckDB, asked again", "parquet", needs=("duckdb",), streaming=False),
    )
}


class NoEnvironmentError(Exception):
    """A peer cannot be had here; the text says why."""


def python_of(peer: Peer, folder: Path) -> str:
    """The Python that runs a peer's programs, whose environment lies under `folder`."""
    absent = [module for module in peer.needs if find_spec(module) is None]
    if absent:
        raise NoEnvironmentError(f"{', '.join(absent)} is not installed")
    if not peer.requires:
        return sys.executable
    home = folder / peer.name
    python, done = home / "bin" / "python", home / "installed.txt"
    if not done.exists() or done.read_text() != "\n".join(peer.requires):
        _run("no environment could be made", sys.executable, "-m", "venv", "--clear", str(home))
        _run("pip could not install it", str(python), "-m", "pip", "install", "--quiet", *peer.requires)
        done.write_text("\n".join(peer.requires))
    return str(python.absolute())


def _run(what: str, *command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise NoEnvironmentError(f"{what}: {lines[-1] if lines else 'pip said nothing'}")
