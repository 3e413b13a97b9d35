"""The last ten rows of each key: what enters (1) and what leaves (-1)."""

import os
from collections import deque
from pathlib import Path

import bytewax.operators as op
import pyarrow.csv
from bytewax.connectors.files import DirSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

data, out, cores = os.environ["DATA"], os.environ["OUT"], int(os.environ["CORES"])


class Partition(StatefulSourcePartition):
    def __init__(self, path):
        names = pyarrow.csv.ReadOptions(column_names=["ts", "k", "v"], block_size=1 << 16)
        self.batches = pyarrow.csv.open_csv(path, read_options=names)

    def next_batch(self):
        ts, k, v = (column.to_pylist() for column in self.batches.read_next_batch().columns)
        return [(str(k), (ts, v)) for ts, k, v in zip(ts, k, v)]

    def snapshot(self):
        return None


class Stream(FixedPartitionedSource):
    def __init__(self, name):
        self.name = name

    def list_parts(self):
        return ["0", "1"]

    def build_part(self, step_id, part, resume_state):
        return Partition(f"{data}/csv/{self.name}/{part}.csv")


flow = Dataflow("last-ten")


def last_ten(ten, row):
    if ten is None:
        ten = deque()
    ten.append(row[1])
    changes = [(1, row[1])]
    if len(ten) > 10:
        changes.append((-1, ten.popleft()))
    return ten, changes


changes = op.stateful_flat_map("ten", op.input("s", flow, Stream("s")), last_ten)
lines = changes
if out != "-":
    lines = op.map("lines", changes, lambda item: (item[0], f"{item[1][0]},{item[0]},{item[1][1]}"))
if out == "-":
    op.inspect("answer", lines, lambda step, line: None)
else:
    op.output("answer", lines, DirSink(Path(out), cores))
