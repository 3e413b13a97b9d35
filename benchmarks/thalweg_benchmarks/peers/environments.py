"""The peers, and a virtual environment for each, made at first use with versions that were tried."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True)
class Peer:
    """A system, the layout of its data, and the packages that pip must install for it, if any."""

    name: str
    title: str
    layout: str
    requires: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # modules that must be importable beside Thalweg
    streaming: bool = True  # False: it runs the query again for every answer
    runner: tuple[str, ...] = ()  # arguments between Python and the program; {cores} is replaced


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
    """A peer cannot run here; the text says why."""


def python_of(peer: Peer, folder: Path) -> str:
    """The Python that runs a peer's programs; make its environment under `folder` first if there is none."""
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
