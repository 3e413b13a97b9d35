"""From statistics of sources to the traffic over every edge of a plan, negative tuples included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import assert_never

from thalweg.algebra.codec import digest
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    MultiJoin,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    RStream,
    Select,
    SemiJoin,
    StreamScan,
    TopK,
    Union,
    Windowed,
)
from thalweg.algebra.windows import PartitionedRows, Rows, ValueRange
from thalweg.optimizer.estimates.operators import traffic_of
from thalweg.optimizer.estimates.traffic import Traffic
from thalweg.optimizer.statistics import Statistics


class ExpiryApproach(Enum):
    """How operators learn that results expire (U7)."""

    DIRECT = "direct"  # from the dates of the results
    NT = "nt"  # from a negative tuple for each expiry
    HYBRID = "hybrid"  # from dates below negations, and from negative tuples above them


@dataclass(frozen=True)
class Estimate:
    """A plan with the traffic out of every operator."""

    node: Plan
    traffic: Traffic
    children: tuple[Estimate, ...]


def estimate(plan: Plan, statistics: Statistics, approach: ExpiryApproach = ExpiryApproach.DIRECT) -> Estimate:
    """The traffic of a plan, from the leaves up. A measurement of an equal sub-plan takes precedence."""
    children = tuple(estimate(child, statistics, approach) for child in plan.children)
    inputs = [child.traffic for child in children]
    traffic = traffic_of(plan, inputs, statistics)
    if statistics.measured and (seen := statistics.measured.get(digest(plan))) is not None and traffic.rate:
        traffic = replace(traffic.scaled(seen.rate / traffic.rate), premature=seen.premature)
    return Estimate(plan, replace(traffic, negative=_negative(plan, traffic, inputs, approach)), children)


def _negative(plan: Plan, traffic: Traffic, inputs: list[Traffic], approach: ExpiryApproach) -> float:
    """How many negative tuples come with each result."""
    match plan:
        case StreamScan() | RelationScan() | IStream() | DStream() | RStream():
            return 0.0
        case Windowed(window=Rows() | PartitionedRows() | ValueRange()):
            return 1.0  # later tuples, not time, make a tuple expire
        case GroupBy() | TopK():
            return 1.0  # a new result deletes the previous one
        case Negation() | Intersect() | SemiJoin(anti=True):
            every_expiry = approach is not ExpiryApproach.DIRECT or any(side.negative == 1 for side in inputs)
            return 1.0 if every_expiry else traffic.premature
        case Windowed() | Select() | Project() | Distinct() | Union() | Join() | SemiJoin() | NrrJoin() | MultiJoin():
            return 1.0 if approach is ExpiryApproach.NT else max(side.negative for side in inputs)
        case _:
            assert_never(plan)
