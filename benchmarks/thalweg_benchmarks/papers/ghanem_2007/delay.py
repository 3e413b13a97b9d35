"""Figure 7: output delay, input-triggered (ITA) and with negative tuples (NTA), by selectivity and distribution."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints
from thalweg.kernel.pipeline import Strategy
from thalweg_benchmarks.papers.claims import below, between, grows
from thalweg_benchmarks.papers.experiment import Axis, Claim, Experiment, FigureData, Points, Scale
from thalweg_benchmarks.papers.ghanem_2007.simulation import SECOND, SimulatedArrival, Simulation, poisson, tuples

WINDOW = 30  # seconds
RATE = 50  # tuples per second
PERIOD = 2  # windows from one group of qualifying tuples to the next, so that some windows have none
SELECTIVITIES = (0.1, 0.25, 0.5, 1.0)
QUERY = "SELECT COUNT(*) AS n FROM s1 [RANGE {w}] JOIN favourites ON s1.item = favourites.item"
ITA_1, ITA_2, NTA_1, NTA_2 = "ITA, together", "ITA, scattered", "NTA, together", "NTA, scattered"
CASES = {ITA_1: (Strategy.ITA, True), ITA_2: (Strategy.ITA, False), NTA_1: (Strategy.NTA, True),
         NTA_2: (Strategy.NTA, False)}  # fmt: skip


def _qualify(rng: np.random.Generator, times: Ints, selectivity: float, period: float, together: bool) -> Flags:
    """The tuples that join: close together once in a period (distribution 1), or anywhere (distribution 2)."""
    if together:
        return np.asarray(times % round(period * SECOND) < selectivity * period * SECOND)
    return rng.random(len(times)) < selectivity


@lru_cache(maxsize=64)
def _delays(
    strategy: Strategy, together: bool, selectivity: float, scale: Scale, period: int = PERIOD
) -> tuple[float, float]:
    """The average and the maximal delay in seconds, over four windows' length; work takes no simulated time."""
    window = scale.pick(float(WINDOW), 1.0)
    seconds = 2 * PERIOD * window
    rng = np.random.default_rng(7)
    times = poisson(rng, RATE, seconds)
    item = np.where(_qualify(rng, times, selectivity, period * window, together), 0, 1)
    simulation = Simulation(QUERY.format(w=round(window * SECOND)), strategy)
    first = np.zeros(1, dtype=np.int64)
    table = SimulatedArrival(0, "favourites", Batch.of_arrivals((first,), first))
    simulation.feed([table, *tuples("s1", times, {"item": item})])
    simulation.run(seconds)
    return simulation.delay.average / SECOND, simulation.delay.maximum / SECOND


def _run(which: int, scale: Scale) -> FigureData:
    shares = scale.pick(SELECTIVITIES, (0.25, 1.0))
    found: Points = {
        name: {share: _delays(*case, share, scale)[which] for share in shares} for name, case in CASES.items()
    }
    often = {share: round(_delays(*CASES[ITA_1], share, scale, 1)[which], 3) for share in shares}
    return FigureData(found, {"ITA, together in every window's length instead, so that none is without (s)": often})


_WORKLOAD = (
    "Query Q1: COUNT over a stream joined with a table of favourite items, windows of 30 s. Poisson arrivals at 50 "
    "tuples/s, four windows' length, FIFO; work takes no simulated time, so that a delay is the "
    "strategy's own. Tuples that join stand together at the beginning of every two windows' length, so that some "
    "windows have none (distribution 1), or anywhere (2). That matters: where they come again in every window's "
    "length, old ones end just as new ones come, and ITA is hardly late (details)."
)


def _figure(panel: str, which: int, what: str, more: tuple[Claim, ...]) -> Experiment:
    shown = "average" if which == 0 else "maximum"
    return Experiment(
        f"GhanemEtAl2007-fig7{panel}",
        f"{shown} output delay of COUNT over a join (Q1)",
        f"{what} The delay of ITA depends on selectivity and on how qualifying tuples are spread: it is high where few "
        "qualify, higher where they stand together. NTA depends on neither.",
        _WORKLOAD,
        Axis("selectivity of the join"),
        Axis(f"{shown} output delay (s)"),
        partial(_run, which),
        (
            below(ITA_2, ITA_1, "ITA is later where qualifying tuples stand together", where=lambda x: x != 1.0),
            between(NTA_1, "NTA is never later than 10 ms where they stand together", least=0.0, most=0.01),
            between(NTA_2, "NTA is never later than 10 ms where they are scattered", least=0.0, most=0.01),
            grows(ITA_1, "ITA's delay falls to a tenth as all qualify, together", least=0.0, most=0.1),
            *more,
        ),
    )


FIGURE_7B = _figure(
    "b", 0, "On average:", (grows(ITA_2, "and to a half, scattered", least=0.0, most=0.5),)
)  # fmt: skip
FIGURE_7C = _figure(
    "c", 1, "At most:", (grows(ITA_2, "and to a half, scattered", least=0.0, most=0.5),)
)  # fmt: skip
