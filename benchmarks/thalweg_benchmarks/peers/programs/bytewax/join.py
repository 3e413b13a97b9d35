"""Pairs with the same key, less than 2 s apart: each side waits until the other has passed it."""

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


flow = Dataflow("join")


def pair(sides, row):
    """`sides` holds the rows of each stream that may still find partners."""
    side, ts, v = row
    if sides is None:
        sides = deque(), deque()
    mine, others = sides[side], sides[1 - side]
    while others and others[0][0] <= ts - 2000:
        others.popleft()
    mine.append((ts, v))
    found = []
    for at, w in others:
        if at >= ts + 2000:
            break
        found.append((v, w) if side == 0 else (w, v))
    return sides, found


left = op.map_value("left", op.input("l", flow, Stream("l")), lambda row: (0, *row))
right = op.map_value("right", op.input("r", flow, Stream("r")), lambda row: (1, *row))
pairs = op.stateful_flat_map("pairs", op.merge("rows", left, right), pair)
lines = pairs
if out != "-":
    lines = op.map("lines", pairs, lambda item: (item[0], f"{item[0]},{item[1][0]},{item[1][1]}"))
if out == "-":
    op.inspect("answer", lines, lambda step, line: None)
else:
    op.output("answer", lines, DirSink(Path(out), cores))
