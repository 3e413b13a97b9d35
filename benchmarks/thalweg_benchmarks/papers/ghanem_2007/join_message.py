"""Figure 8: what the join-message optimisation saves, by the number of a tuple's partners."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg_benchmarks.papers.claims import alike, below, between, grows
from thalweg_benchmarks.papers.experiment import Axis, Experiment, FigureData, Points, Scale
from thalweg_benchmarks.papers.ghanem_2007.simulation import SECOND, STRATEGIES, Simulation, in_order, tuples

WINDOW = 30.0  # seconds
RATE = 50  # tuples per second and stream
MULTIPLICITIES = (1, 2, 3, 5)
QUERY = "SELECT MAX(s2.price) AS longest FROM s1 [RANGE {w}] JOIN s2 [RANGE {w}] ON s1.store = s2.store"

_WORKLOAD = (
    "Query Q2: MAX over a join of two streams, 50 tuples/s each, windows of 30 s, three windows' "
    "length, FIFO. A window has as many results as tuples: of the first stream one tuple in m finds partners, and it "
    "finds m, which come after it."
)

CALLS = (
    "a vectorised join costs by the call: about 0.3 ms with one tuple, positive or negative, and 0.2 ms with none; a "
    "message spares the probing, but not the call"
)


@dataclass(frozen=True)
class Joined:
    """Negative tuples and messages per positive result of the join, and its input items per second of its work."""

    overhead: float
    capacity: float


@lru_cache(maxsize=64)
def _joined(name: str, multiplicity: int, scale: Scale, on_grid: bool = False) -> Joined:
    window = scale.pick(WINDOW, 0.2)
    rng = np.random.default_rng(8)
    number = np.arange(round(3 * window * RATE))
    matching = number % multiplicity == 0
    gap = SECOND // RATE
    early = np.full(len(number), 1) if on_grid else rng.integers(1, gap // 2, len(number))
    late = np.full(len(number), gap // 2) if on_grid else rng.integers(gap // 2, gap, len(number))
    times = number * gap + early  # off the grid no tuple ends at the instant at which another arrives
    first = tuples("s1", times, {"store": np.where(matching, number // multiplicity, -1)})
    prices = rng.integers(0, 1_000, len(number))
    second = tuples(
        "s2",
        number * gap + late,
        {"store": number // multiplicity, "price": prices},
    )
    simulation = Simulation(QUERY.format(w=round(window * SECOND)), STRATEGIES[name])
    simulation.feed(in_order(first, second))
    simulation.run(window)  # until tuples start to leave
    before, earlier = simulation.operator("Join")
    simulation.run(3 * window)
    after, seconds = simulation.operator("Join")
    others = after.negative_out - before.negative_out + after.messages_out - before.messages_out
    return Joined(
        others / (after.positive_out - before.positive_out), (_taken(after) - _taken(before)) / (seconds - earlier)
    )


def _taken(join: OperatorMetrics) -> int:
    return join.positive_in + join.negative_in + join.messages_in


def _overheads(scale: Scale) -> FigureData:
    return FigureData(_points(scale, "overhead"))


def _capacities(scale: Scale) -> FigureData:
    grid = {name: round(_joined(name, 1, scale, True).capacity) for name in STRATEGIES}
    return FigureData(_points(scale, "capacity"), {"tuples at equal gaps instead, one partner": grid})


def _points(scale: Scale, what: str) -> Points:
    partners = scale.pick(MULTIPLICITIES, (1, 3))
    return {name: {float(m): getattr(_joined(name, m, scale), what) for m in partners} for name in STRATEGIES}


PARTNERS = Axis("partners of a tuple that has any")

FIGURE_8A = Experiment(
    "GhanemEtAl2007-fig8a",
    "negative tuples and messages for each result of a join (Q2)",
    "NTA sends a negative tuple for each positive one; ITA none. Join-messages send one for all results that end "
    "together, so the more partners a tuple has, the more they spare.",
    _WORKLOAD,
    PARTNERS,
    Axis("negative tuples and messages per positive tuple"),
    _overheads,
    (
        between("NTA", "NTA sends about one negative tuple for each positive one", least=0.9, most=1.1),
        between("ITA", "ITA sends none", least=0.0, most=0.0),
        below("join-message", "NTA", "join-messages are fewer than negative tuples", where=lambda x: x != 1.0, by=1.5),
        grows("join-message", "with five partners a third of what it is with one, at most", least=0.0, most=1 / 3),
    ),
)

FIGURE_8B = Experiment(
    "GhanemEtAl2007-fig8b",
    "how many tuples a join can process (Q2)",
    "Join-messages, with piggybacking or without, double the join's capacity, for a message is not joined again; NTA "
    "has the capacity of ITA, for a negative tuple is joined like a positive one. None depends on how many partners a "
    "tuple has.",
    f"{_WORKLOAD} Capacity is tuples and messages that the join took in per second of processor time spent in it. "
    "Tuples come at uneven gaps: at equal ones a tuple ends just as another comes, and one call of the join takes "
    "both, which favours NTA (details).",
    PARTNERS,
    Axis("tuples and messages per second"),
    _capacities,
    (
        alike("NTA", "ITA", "NTA and ITA have the same capacity, within a quarter", within=1.25, why=CALLS),
        below("NTA", "join-message", "join-messages double NTA's capacity", by=1.8, why=CALLS),
        below("NTA", "piggybacking", "so does piggybacking", by=1.8, why=CALLS),
        grows("join-message", "capacity does not depend on the number of partners", least=0.75, most=1.33),
    ),
)
