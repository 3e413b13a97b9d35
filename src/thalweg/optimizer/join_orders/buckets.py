"""How many buckets the hash tables of a multi-way join should have (M5; GolabOzsu2003 §5.3 and 6.5).

A window is looked at w_j times per unit of time, a bucket of C_j / b_j tuples each time. The sum of w_j C_j / b_j for a
given number of buckets is smallest when b_j grows with the square root of w_j C_j: large tables belong to fast streams
and large windows, but less than in proportion, and slow streams need an index too: in Figure 4(b) "10 to slow" is the
better the more buckets there are, and "1 to slow" falls behind.

The kernel's tables are indexed by dense codes: a bucket for each value that occurs, so b_j is never smaller than v_j
and no bucket holds two values. More buckets than values help nobody, so there is nothing left to set; the rule serves
the cost model, and whoever sizes tables of another kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from thalweg.core.errors import PlanError
from thalweg.core.stream_statistics import StreamStatistics


def bucket_sizes(streams: Sequence[StreamStatistics], total: int) -> tuple[int, ...]:
    """Buckets for each stream's table, at least one each, `total` together.

    Every new tuple of any other stream looks into a window first of all, so w_j is taken as the sum of their rates.
    """
    if total < len(streams):
        raise PlanError(f"{len(streams)} hash tables need at least {len(streams)} buckets, not {total}")
    rates = sum(stream.rate for stream in streams)
    weights = [sqrt(max(0.0, (rates - stream.rate) * stream.size)) or 1.0 for stream in streams]
    spare = total - len(streams)
    exact = [spare * weight / sum(weights) for weight in weights]
    sizes = [1 + int(share) for share in exact]
    remainders = sorted(range(len(streams)), key=lambda i: (int(exact[i]) - exact[i], i))
    for i in remainders[: total - sum(sizes)]:
        sizes[i] += 1
    return tuple(sizes)
