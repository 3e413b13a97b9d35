"""What travels between tasks: (group, port, part, clock, system, blob).

`part` and the order in which a part packs its tuples fix the order of arrival, whatever order parcels come in. Ports
below zero have a meaning of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from thalweg.core.time import Instant

HEARTBEAT = -1  # says what time it is, and nothing else
COMMAND = -2  # "advance" in `clock`, or "drain" if that is DRAIN
BAD = -3  # rows of a source that are no tuples, and why
TOO_LATE = -4  # rows of a source that came too late
FLOW = -5  # a query that is to be added to a flow, or dropped
DONE = -6  # what has been counted of rows that were answered where they were read, and a note about their answers
DRAIN: Instant = -(1 << 61)  # the clock of a command to drain


class Parcel(NamedTuple):
    """Something for a group, or, under the number of any of its groups, for a shard."""

    group: int
    port: int
    part: int
    clock: Instant
    system: int
    blob: bytes | pa.Buffer
