"""Run PatroumpasSellis2011's operators, each by itself over a window, with a chunk of tuples in every cycle.

As in the paper, only the operators above the window are timed, not the window.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from thalweg.algebra.catalog import Catalog
from thalweg.core.batch import Batch
from thalweg.cql import compile_query, compile_script
from thalweg.kernel.operators.number import Number
from thalweg.kernel.pipeline import Pipeline, Settings, Strategy, build
from thalweg_benchmarks.papers.experiment import Scale
from thalweg_benchmarks.papers.trace import TraceStream, trace

RATE, FEW = 10_000, 200  # tuples per cycle and stream, in a full run and in a quick one
JOIN, DISTINCT, SUM, MAX = "join", "distinct", "SUM", "MAX"

# The paper's queries Q6, Q4 and Q5.
QUERIES = {
    JOIN: "SELECT a.src, a.dst, b.src AS other FROM a {w}, b {w} WHERE a.src = b.partner",
    DISTINCT: "SELECT DISTINCT protocol, src, dst FROM a {w}",
    SUM: "SELECT src, SUM(duration) AS total FROM a {w} GROUP BY src",
    MAX: "SELECT src, MAX(duration) AS longest FROM a {w} GROUP BY src",
}

WORKLOAD = (
    "Connections dealt to two streams in turn, hosts as numbers, 10,000 tuples per stream and execution cycle; a "
    "cycle is a batch, and its tuples have one timestamp where windows go by time, successive ones where they count. "
    "Each operator runs alone, and the time of its window is left out. Windows are filled before cycles are timed."
)


@dataclass(frozen=True)
class Cycle:
    """Processor seconds of a cycle, and the changes of the answer in it."""

    seconds: float
    gained: Batch


class Alone:
    """A query with its input, cycle by cycle; with `counted`, a tick has one tuple, else all tuples of a cycle."""

    def __init__(
        self, query: str, window: str, scale: Scale, rate: int, counted: bool = False, protocols: int = 0
    ) -> None:
        catalog = Catalog()
        compile_script(f"CREATE STREAM a ({TraceStream.COLUMNS}); CREATE STREAM b ({TraceStream.COLUMNS})", catalog)
        plan = compile_query(query.format(w=window), catalog)
        self.pipeline = build(plan, Strategy.ORD, settings=Settings(optimize=False))
        source = trace(scale).only(protocols) if protocols else trace(scale)
        self._streams = dict(zip(("a", "b"), source.dealt(2), strict=True))
        self._rate, self._counted, self._cycles = rate, counted, 0
        self.pipeline.begin(-1)

    def cycle(self) -> Cycle:
        """Process the next chunk of each stream."""
        first, rate = self._cycles * self._rate, self._rate
        ts = np.arange(first, first + rate) if self._counted else np.full(rate, self._cycles)
        feeds = {name: stream.batch(first, ts, self.pipeline.dated) for name, stream in self._streams.items()}
        self._cycles += 1
        return Cycle(*_processed(self.pipeline, feeds, int(ts[-1])))

    def fill(self, cycles: int) -> None:
        """Process so many tuples without timing."""
        for _ in range(cycles):
            self.cycle()

    def seconds(self, cycles: int) -> float:
        """The processor seconds of so many cycles."""
        return sum(self.cycle().seconds for _ in range(cycles))


def _processed(pipeline: Pipeline, feeds: dict[str, Batch], now: int) -> tuple[float, Batch]:
    """Process a batch; return the changes, and the processor seconds of all operators but the windows."""
    results: list[Batch] = []
    seconds = 0.0
    for node in pipeline.nodes:
        if node.operator is None:
            results.append(feeds[node.source])
            continue
        began = time.process_time()
        results.append(node.operator.process([results[i] for i in node.inputs], now))
        if not _is_window(node.operator):
            seconds += time.process_time() - began
    return seconds, results[-1]


def _is_window(operator: object) -> bool:
    return isinstance(operator, Number) or type(operator).__module__.startswith("thalweg.kernel.windows")


def milliseconds(
    name: str,
    window: str,
    scale: Scale,
    *,
    fill: int,
    cycles: int,
    rate: int,
    counted: bool = False,
    protocols: int = 0,
) -> float:
    """Milliseconds per cycle of an operator over a window that `fill` tuples fill; the faster of two runs."""
    runs = []
    for _ in range(scale.pick(2, 1)):
        alone = Alone(QUERIES[name], window, scale, rate, counted, protocols)
        alone.fill(-(-fill // rate) + 1)
        runs.append(alone.seconds(cycles))
    return 1e3 * min(runs) / cycles
