"""A real cluster on this machine: a master, two workers, and executors that are killed in the middle of a query.

    python -m faults.cluster [--runs 2]      (make cluster-test)

The answer must be right, though state and shuffled data of a killed executor are gone from memory and from its disk. In
one more run some tasks are slow, so that Spark starts them a second time elsewhere: two attempts at a step at once.
"""

from __future__ import annotations

import argparse
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from faults.disturbed import repeated
from faults.killing import attacks, difference, run_killed
from faults.processes import executors, workers
from faults.program import expected, last_answer, read_answer, read_changes
from thalweg.runtime.spark.api.java import java_home

HOME = "127.0.0.1"
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.minTaskRuntime": "500ms",
}
SPECULATED_ROWS = 1_000


class Cluster:
    """A master and its workers."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder, self._port = folder, _free_port()
        self.processes: list[subprocess.Popen[bytes]] = []
        self.start(HOME, "master.Master", "--port", str(self._port), "--webui-port", str(_free_port()))
        _wait_for(self._port)
        for number in range(workers):
            host = f"127.0.0.{number + 2}"  # one for each: Spark starts no task a second time on the same host
            self.start(
                host, "worker.Worker", self.master, "--cores", "1", "--memory", "1g",
                "--webui-port", str(_free_port()), "--work-dir", str(folder / f"worker-{number}"),
            )  # fmt: skip

    @property
    def master(self) -> str:
        """Its address."""
        return f"spark://{HOME}:{self._port}"

    def start(self, host: str, what: str, *arguments: str) -> None:
        """One of Spark's own programs, at an address of this machine's."""
        home = Path(pyspark.__path__[0])
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "JAVA_HOME": str(java_home()),
            "SPARK_LOCAL_IP": host,
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(filter(None, sys.path))),
        }
        with (self._folder / f"{what}-{len(self.processes)}.log").open("wb") as log:
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{what}", "--host", host, *arguments]
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))

    def victims(self, kind: str, driver: int) -> list[int]:
        """Executors, or the Python processes that they have started."""
        find = {"executor": executors, "worker": workers}[kind]
        return [pid for process in self.processes for pid in find(process.pid)]

    def stop(self) -> None:
        """End what was started."""
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait(30)


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster for a while."""
    made = Cluster(folder, workers)
    try:
        yield made
    finally:
        made.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOME, 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((HOME, port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError(f"nobody listens at port {port}")


def run_speculated(folder: Path, arguments: list[str]) -> str:
    """Run the program with slow tasks and speculation; what is wrong with what it emitted, or nothing."""
    folder.mkdir()
    settings = [f"--set={name}={value}" for name, value in SPECULATION.items()]
    command = [sys.executable, "-m", "faults.program", str(folder), *arguments, *settings, "--disturb", "slow"]
    with (folder / "program.log").open("wb") as log:
        subprocess.run(command, stdout=log, stderr=log, check=True, timeout=600)
    twice = repeated(folder / "disturbed")
    if not twice:
        return "no task was started a second time"
    wanted = expected(int(arguments[arguments.index("--rows") + 1]))
    if problem := difference(wanted, read_changes(folder)):
        return problem
    return "" if read_answer(folder) == last_answer(wanted) else "the table sink holds another answer"


def main() -> None:
    """As a command; ends with an error if any answer was wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--per-batch", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    arguments = ["--rows", str(options.rows), "--per-batch", str(options.per_batch)]
    settings = {"spark.executor.memory": "700m", "spark.driver.host": HOME, "spark.driver.bindAddress": HOME}
    wanted, bad = expected(options.rows), 0
    with tempfile.TemporaryDirectory(prefix="thalweg-cluster-") as top, cluster(Path(top)) as made:
        arguments += ["--master", made.master, *(f"--set={name}={value}" for name, value in settings.items())]
        for number in range(options.runs):
            draw = random.Random(options.seed * 1_000 + number)
            folder = Path(top) / f"run-{number}"
            folder.mkdir()
            plan = attacks(draw, options.rows // options.per_batch, ("executor", "executor", "worker"))
            outcome = run_killed(folder, arguments, plan, draw, made.victims)
            problem = difference(wanted, read_changes(folder))
            bad += bool(problem)
            print(
                f"run {number}: killed {', '.join(outcome.killed)}; {outcome.starts} starts, {outcome.seconds:.0f} s;"
                f" {problem or 'right'}",
                flush=True,
            )
        few = [*arguments]
        few[few.index("--rows") + 1] = str(SPECULATED_ROWS)
        began = time.monotonic()
        problem = run_speculated(Path(top) / "speculated", few)
        bad += bool(problem)
        print(f"speculation: {time.monotonic() - began:.0f} s; {problem or 'right'}", flush=True)
    sys.exit(f"{bad} of {options.runs + 1} runs gave a wrong answer" if bad else None)


if __name__ == "__main__":
    main()
