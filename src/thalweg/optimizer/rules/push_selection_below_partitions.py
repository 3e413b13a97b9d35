"""sigma_F(W_{K,n}(S)) = W_{K,n}(sigma_F(S)) for F over the partitioning columns K alone."""

from __future__ import annotations

from thalweg.algebra.plan import Plan, Select, Windowed
from thalweg.algebra.windows import PartitionedRows
from thalweg.optimizer.columns import selected, split
from thalweg.optimizer.conditions import tells_zeros_apart


def push_selection_below_partitions(plan: Plan) -> Plan | None:
    """Whole partitions are dropped before they are kept.

    PatroumpasSellis2011 §5, has no such rule for partitioned windows. It holds for parts of the predicate that read the
    keys alone: they keep or drop a partition as a whole, and partitions do not see each other.
    """
    match plan:
        case Select(Windowed(stream, PartitionedRows(keys) as window), predicate):
            down, stay = split(predicate, lambda read: read <= set(keys))
            if down and not any(map(tells_zeros_apart, down)):
                return selected(Windowed(selected(stream, down), window), stay)
    return None
