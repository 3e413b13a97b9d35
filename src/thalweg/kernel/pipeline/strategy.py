"""Strategies: how tuples end (known ends or negative tuples), and how operators learn the time. One for each query."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from thalweg.algebra.codec import register
from thalweg.algebra.plan import DStream, IStream, Join, JoinKind, MultiJoin, NrrJoin, Plan, RStream, is_table
from thalweg.core.errors import PlanError
from thalweg.kernel.pipeline.plan_properties import needs_dates
from thalweg.patterns import Annotated, BufferKind, Expiry, annotate, is_direct


class Strategy(Enum):
    """A strategy; the value is the name that users write."""

    AUTO = "auto"  # known ends if possible, otherwise negative tuples; buffers by pattern (UPA, GolabOzsu2005)
    NT = "nt"  # negative tuples for every end
    ORD = "ord"  # as AUTO; joins over physical windows find results by order of expiration (PatroumpasSellis2011)
    DIRECT = "direct"  # known ends only, in sequential buffers; refused if an end is not known
    ITA = "ita"  # input-triggered: an operator learns the time from the tuples that reach it (GhanemEtAl2007)
    NTA = "nta"  # negative tuples through queues
    TIME_MESSAGE = "time-message"  # above a join, time-messages instead of negative tuples
    PIGGYBACK = "piggyback"  # time-messages that later tuples carry along

    @property
    def layout(self) -> BufferKind | None:
        """The buffer layout of all joins; None: the update pattern decides."""
        return _LAYOUTS.get(self)

    @property
    def is_queued(self) -> bool:
        """Whether operators are connected by queues and have their own clocks (GhanemEtAl2007)."""
        return self in (Strategy.ITA, Strategy.NTA, Strategy.TIME_MESSAGE, Strategy.PIGGYBACK)

    @property
    def sends_messages(self) -> bool:
        """Whether time-messages flow."""
        return self in (Strategy.TIME_MESSAGE, Strategy.PIGGYBACK)


register("strategy", Strategy)

_LAYOUTS = {
    Strategy.NT: BufferKind.HASH,
    Strategy.NTA: BufferKind.HASH,
    Strategy.DIRECT: BufferKind.SEQUENCE,
}


def knows_ends(plan: Plan, strategy: Strategy) -> Callable[[Plan], bool]:
    """Which windows of the plan emit tuples with known ends; the others emit negative tuples."""
    match strategy:
        case Strategy.NT | Strategy.NTA:
            return lambda window: False
        case Strategy.TIME_MESSAGE:
            dated = needs_dates(plan)
            joins = [
                node for node in plan.walk() if isinstance(node, Join | MultiJoin) and _sends_messages(node, dated)
            ]
            below = {node for join in joins for node in join.walk()}
            return below.__contains__
    return lambda window: True


def _sends_messages(join: Join | MultiJoin, dated: bool) -> bool:
    """Whether the results of a join have known ends: a join of windows over streams, or of these and tables (N4)."""
    inner = isinstance(join, MultiJoin) or join.kind is JoinKind.INNER
    return inner and all(is_direct(side, dated) or is_table(side) for side in join.children)


def check_strategy(plan: Plan, strategy: Strategy) -> None:
    """Raise a PlanError, with the reason, if the strategy cannot run the plan exactly."""
    if strategy is Strategy.ITA:
        _check_input_triggered(plan)
    if strategy is not Strategy.DIRECT:
        return
    cause = _unknown_end(annotate(plan))
    if cause is not None:
        raise PlanError(
            f"the strategy direct cannot run this query: for a result of the {cause.node.label}, "
            f"{_END[cause.edge.expiry]}",
            hint="strategy auto uses known ends if possible; nt ends every tuple by a negative tuple",
        )


def _check_input_triggered(plan: Plan) -> None:
    """Refuse streams of changes: they depend on the time of each change, and ITA sees some changes late or never."""
    stream = next((node for node in plan.walk() if isinstance(node, IStream | DStream | RStream)), None)
    if stream is not None:
        raise PlanError(
            f"the strategy ita cannot run this query: {stream.label} depends on the time of each change, "
            "and ita sees a change late or, if it has ended meanwhile, never",
            hint="strategies auto, nta, time-message and piggyback see every change at its time",
        )


_END = {
    Expiry.ORDER: "the end is an order of expiration, not a time: later tuples push it out",
    Expiry.NEGATIVE: "only a negative tuple ends it",
}


def _unknown_end(plan: Annotated) -> Annotated | None:
    """The lowest operator whose results do not have known ends; a group's value ends when the next one replaces it."""
    # An update of an NRR changes no earlier result, so only the left input matters.
    inputs = plan.children[:1] if isinstance(plan.node, NrrJoin) else plan.children
    for child in inputs:
        found = _unknown_end(child)
        if found is not None:
            return found
    return plan if plan.edge.expiry in _END else None
