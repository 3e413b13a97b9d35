"""What an operator reads of its inputs besides their rows: dates, and the order of arrival."""

from __future__ import annotations

from typing import NamedTuple

from thalweg.algebra.plan import (
    DStream,
    Intersect,
    IStream,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RStream,
    Select,
    SemiJoin,
    Windowed,
)
from thalweg.algebra.windows import LogicalWindow


class Demands(NamedTuple):
    """Whether some row of the answer depends on the dates of a node's output, or on the order in which it comes."""

    dates: bool = False
    order: bool = False


def demands(node: Plan, above: Demands) -> tuple[Demands, ...]:
    """What a node asks of each input, given what is asked of the node (docs/semantics.md, "Operators and dates")."""
    passed, nothing, dated = Demands(above.dates), Demands(), Demands(dates=True)
    match node:
        case Windowed(window=window):
            return (Demands(dates=True, order=not isinstance(window, LogicalWindow)),)
        case RStream():  # a row with another ts is another row
            return (dated,)
        case IStream() | DStream():  # what is emitted has dates of its own
            return (nothing,)
        case NrrJoin():  # met as of the left tuple's ts
            return (dated, nothing)
        case Negation() if not node.compares_rows:  # which left rows stay depends on their dates
            return (dated, nothing)
        case Negation() | SemiJoin() | Intersect():  # the dates are the left's
            return (passed, nothing)
        case Select() | Project():
            return (above,)
    return tuple(passed for _ in node.children)
