"""From statistics of sources to the flow over every edge of a plan, and how the ends of results are told there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from thalweg.algebra.codec import digest
from thalweg.algebra.plan import (
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Negation,
    Plan,
    RelationScan,
    RStream,
    SemiJoin,
    StreamScan,
    TopK,
    Windowed,
)
from thalweg.algebra.windows import PartitionedRows, Rows, ValueRange
from thalweg.optimizer.flow import Flow
from thalweg.optimizer.flows import flow_of
from thalweg.optimizer.statistics import Statistics


class Ends(Enum):
    """How ends are told: by dates, by negative tuples, or by them from the negations on upwards (U7)."""

    DIRECT = "direct"
    NT = "nt"
    HYBRID = "hybrid"


@dataclass(frozen=True)
class Estimate:
    """A plan with the flow out of every operator."""

    node: Plan
    flow: Flow
    children: tuple[Estimate, ...]


def estimate(plan: Plan, statistics: Statistics, ends: Ends = Ends.DIRECT) -> Estimate:
    """The flows of a plan, from the leaves up; what was measured of an equal sub-plan counts more than any guess."""
    children = tuple(estimate(child, statistics, ends) for child in plan.children)
    flow = flow_of(plan, [child.flow for child in children], statistics)
    if statistics.measured and (seen := statistics.measured.get(digest(plan))) is not None and flow.rate:
        flow = replace(flow.thinned(seen.rate / flow.rate), premature=seen.premature)
    return Estimate(plan, _told(plan, flow, [child.flow for child in children], ends), children)


def _told(plan: Plan, flow: Flow, inputs: list[Flow], ends: Ends) -> Flow:
    """How many negative tuples come with the results."""
    match plan:
        case StreamScan() | RelationScan() | IStream() | DStream() | RStream():
            return replace(flow, negative=0.0)
        case Windowed(window=Rows() | PartitionedRows() | ValueRange()):
            return replace(flow, negative=1.0)  # an order says what leaves, not a time
        case GroupBy() | TopK():
            return replace(flow, negative=1.0)  # the last value is taken back
        case Negation() | Intersect() | SemiJoin(anti=True):
            all_told = ends is not Ends.DIRECT or any(side.negative == 1 for side in inputs)
            return replace(flow, negative=1.0 if all_told else flow.premature)
    below = max((side.negative for side in inputs), default=0.0)
    return replace(flow, negative=1.0 if ends is Ends.NT else below)
