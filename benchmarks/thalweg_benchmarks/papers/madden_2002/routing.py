"""Figures 8 and 9: the filters that a tuple visits under each policy, and the shares of tickets over time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from thalweg.flows.eddy import SpjQuery
from thalweg.flows.eddy.routing import Fixed, MakePolicy
from thalweg_benchmarks.papers.claims import alike, between, number, since
from thalweg_benchmarks.papers.experiment import Axis, Claim, Experiment, FigureData, Finding, Scale, Series
from thalweg_benchmarks.papers.madden_2002.queries import (
    ATTRIBUTES,
    TABLE_3,
    WORKLOAD_1,
    WORKLOAD_2,
    WORKLOAD_3,
    FedEddy,
)

FILTERS = "filters per tuple"
SECONDS = 5  # from one query to the next
POINTS = 40  # seconds that are shown


def _optimal(seed: int) -> Fixed:
    return Fixed([f"s.{attribute}" for attribute in ATTRIBUTES])


def _visits(policy: str | MakePolicy, tuples: int) -> float:
    flow = FedEddy(policy, skip=False, chunk=1 if policy == "tickets" else 8)
    for slot, query in enumerate(TABLE_3):
        flow.eddy.add(slot, query)
    flow.feed(tuples // 2)
    return flow.visits(tuples)


def _policies(scale: Scale) -> FigureData:
    tuples = scale.pick(10_000, 500)
    policies: dict[str, str | MakePolicy] = {"optimal": _optimal, "tickets": "tickets", "random": "random"}
    found: dict[float | str, float] = {name: _visits(policy, tuples) for name, policy in policies.items()}
    return FigureData({FILTERS: {**found, "worst": float(len(ATTRIBUTES))}})


def _filters(policy: str, says: str, least: float, most: float) -> Claim:
    return between(FILTERS, says, least=least, most=most, where=lambda x: x == policy)


def _shares(workload: Sequence[SpjQuery], scale: Scale) -> FigureData:
    """The share of tickets of each filter, by second; a query is added every five seconds."""
    a_second = scale.pick(1_000, 20)
    flow = FedEddy("tickets", skip=False, chunk=16)
    found: dict[str, dict[float | str, float]] = {f"S.{a}": {} for a in ATTRIBUTES}
    waiting = list(enumerate(workload))
    for second in range(POINTS):
        if second % SECONDS == 0 and waiting:
            flow.eddy.add(*waiting.pop(0))
        flow.feed(a_second)
        shares = flow.shares()
        for a in ATTRIBUTES:
            found[f"S.{a}"][second + 1] = 100.0 * shares.get(a, 0.0)
    return FigureData(found, {"tuples in a second": a_second})


def _ends(says: str, test: str, why: str = "") -> Claim:
    """A claim about the order of the filters at the end, from the fewest tickets to the most."""

    def ordered(series: Series) -> Finding:
        last = {name[-1]: list(points.values())[-1] for name, points in series.items()}
        seen = "".join(sorted(last, key=lambda a: last[a]))
        shares = ", ".join(f"{a} {number(last[a])}%" for a in ATTRIBUTES)
        return Finding(seen.endswith(test), f"from fewest to most {seen}: {shares}")

    return Claim(says, ordered, why)


def _adaptivity(
    panel: str, workload: Sequence[SpjQuery], title: str, claim: str, claims: tuple[Claim, ...]
) -> Experiment:
    return Experiment(
        f"MaddenEtAl2002-fig9{panel}",
        title,
        claim,
        "The queries of Table 4, one more every five seconds; a second is a thousand tuples of five uniform numbers. "
        "The eddy decides for 16 tuples at a time, and no filter is skipped.",
        Axis("seconds"),
        Axis("share of tickets, per cent"),
        partial(_shares, workload),
        claims,
    )


FIGURE_8 = Experiment(
    "MaddenEtAl2002-fig8",
    "filters that a tuple visits, by routing policy (Table 3)",
    "Tickets send a tuple to 1.3 filters, near the 1.15 of the best order; a random order to 3.2, of 5.",
    "The queries of Table 3 over five uniform numbers from 0 to 99. As in the paper no filter is skipped, also where "
    "no query is left that it could serve.",
    Axis("policy"),
    Axis(FILTERS),
    _policies,
    (
        _filters("optimal", "the best order takes 1.15 filters", 1.12, 1.18),
        _filters("tickets", "tickets take at most 1.35", 1.0, 1.35),
        _filters("random", "a random order takes 3.2, give or take 0.2", 3.0, 3.4),
    ),
)

FIGURE_9A = _adaptivity(
    "a",
    WORKLOAD_1,
    "tickets over time, independent queries (Table 4, workload 1)",
    "The more selective a filter, the more tickets it gets; within some seconds a new one has its share.",
    (_ends("at the end filters have tickets by their selectivity, S.e most", "cadbe"),),
)
FIGURE_9B = _adaptivity(
    "b",
    WORKLOAD_2,
    "tickets over time, filters of many queries (Table 4, workload 2)",
    "Of equally selective filters the one that serves most queries gets most tickets.",
    (_ends("at the end filters have tickets by the number of their queries, S.a most", "edcba"),),
)
FIGURE_9C = _adaptivity(
    "c",
    WORKLOAD_3,
    "tickets over time, both at once (Table 4, workload 3)",
    "S.a, S.b and S.c end with about equally many tickets: the first serves most queries, the others are more "
    "selective.",
    (
        alike("S.b", "S.c", "S.b and S.c have about equally many", within=1.5, where=since(POINTS)),
        alike("S.a", "S.b", "S.a has about as many as S.b", within=1.5, where=since(POINTS)),
    ),
)
