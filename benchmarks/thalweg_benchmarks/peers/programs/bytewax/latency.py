"""The last ten rows of each key, of rows that come one by one; what enters is printed."""

import os
from collections import deque
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition


class Arriving(StatefulSourcePartition):
    def __init__(self, folder):
        self.folder, self.known, self.awake = folder, set(), None

    def next_batch(self):
        self.awake = datetime.now(UTC) + timedelta(milliseconds=10)
        new = [file for file in self.folder.glob("*.csv") if file not in self.known]
        self.known.update(new)
        rows = (file.read_text().strip().split(",") for file in new)
        return [(k, (int(ts), float(v))) for ts, k, v in rows]

    def next_awake(self):
        return self.awake

    def snapshot(self):
        return None


class Stream(FixedPartitionedSource):
    def list_parts(self):
        return ["all"]

    def build_part(self, step_id, part, resume_state):
        return Arriving(Path(os.environ["DATA"]))


def last_ten(ten, row):
    if ten is None:
        ten = deque()
    ten.append(row[1])
    changes = [(1, row[1])]
    if len(ten) > 10:
        changes.append((-1, ten.popleft()))
    return ten, changes


flow = Dataflow("latency")
changes = op.stateful_flat_map("ten", op.input("s", flow, Stream()), last_ten)
entered = op.filter_value("entered", changes, lambda change: change[0] > 0)
op.inspect("seen", entered, lambda step, item: print("seen", item[1][1], flush=True))
