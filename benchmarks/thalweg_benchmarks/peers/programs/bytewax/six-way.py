"""Combinations of six streams with one key, within 12 s: rows wait until all others have passed them."""

import os
from collections import deque
from itertools import product
from pathlib import Path

import bytewax.operators as op
import pyarrow.csv
from bytewax.connectors.files import DirSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

data, out, cores = os.environ["DATA"], os.environ["OUT"], int(os.environ["CORES"])


class Partition(StatefulSourcePartition):
    def __init__(self, path):
        options = pyarrow.csv.ReadOptions(column_names=["ts", "k", "v"], block_size=1 << 16)
        self.batches = pyarrow.csv.open_csv(path, read_options=options)

    def next_batch(self):
        columns = self.batches.read_next_batch().columns
        return list(zip(*(column.to_pylist() for column in columns)))

    def snapshot(self):
        return None


class Stream(FixedPartitionedSource):
    def __init__(self, name):
        self.name = name

    def list_parts(self):
        return ["0", "1"]

    def build_part(self, step_id, part, resume_state):
        return Partition(f"{data}/csv/{self.name}/{part}.csv")


flow = Dataflow("six-way")


def combine(streams, row):
    """`streams` holds the rows of each stream that may still find partners, and how far each has come."""
    place, ts, v = row
    kept, seen = streams or ([deque() for _ in range(6)], [0] * 6)
    seen[place] = ts
    kept[place].append((ts, v))
    oldest = min(seen) - 12_000
    for rows in kept:
        while rows and rows[0][0] <= oldest:
            rows.popleft()
    sides = [[(ts, v)] if i == place else [r for r in kept[i] if abs(r[0] - ts) < 12_000] for i in range(6)]
    found = []
    for rows in product(*sides):
        times = [at for at, _ in rows]
        if max(times) - min(times) < 12_000:
            found.append(tuple(v for _, v in rows))
    return (kept, seen), found


inputs = []
for place, name in enumerate("abcdef"):
    rows = op.input(name, flow, Stream(name))
    inputs.append(op.map(f"keyed {name}", rows, lambda row, place=place: (str(row[1]), (place, row[0], row[2]))))
found = op.stateful_flat_map("combine", op.merge("rows", *inputs), combine)
if out == "-":
    op.inspect("answer", found, lambda step, item: None)
else:
    lines = op.map("lines", found, lambda item: (item[0], ",".join(map(str, (item[0], *item[1])))))
    op.output("answer", lines, DirSink(Path(out), cores))
