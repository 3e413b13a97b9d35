"""A thousand standing filters: all tried on a batch of rows at once."""

import json
import os
from pathlib import Path

import bytewax.operators as op
import numpy as np
import pyarrow.csv
from bytewax.connectors.files import DirSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

data, out, cores = os.environ["DATA"], os.environ["OUT"], int(os.environ["CORES"])


class Partition(StatefulSourcePartition):
    def __init__(self, path):
        options = pyarrow.csv.ReadOptions(column_names=["ts", "id", "a", "b", "c", "d", "e"], block_size=1 << 16)
        self.batches = pyarrow.csv.open_csv(path, read_options=options)

    def next_batch(self):
        return [self.batches.read_next_batch()]

    def snapshot(self):
        return None


class Stream(FixedPartitionedSource):
    def __init__(self, name):
        self.name = name

    def list_parts(self):
        return ["0", "1"]

    def build_part(self, step_id, part, resume_state):
        return Partition(f"{data}/csv/{self.name}/{part}.csv")


flow = Dataflow("filters")
x, low, y, next_low = map(np.array, zip(*json.loads(Path(data, "filters.json").read_text())))
x, y = np.searchsorted(list("abcde"), x), np.searchsorted(list("abcde"), y)


def wanted(batch):
    ids, *columns = (batch.column(name).to_numpy() for name in ("id", *"abcde"))
    values = np.stack(columns, axis=1)
    first, second = values[:, x] - low, values[:, y] - next_low
    rows, queries = np.nonzero((first >= 0) & (first < 20) & (second >= 0) & (second < 20))
    return list(zip(queries.tolist(), ids[rows].tolist()))


found = op.flat_map("wanted", op.input("s", flow, Stream("s")), wanted)
if out == "-":
    op.inspect("answer", found, lambda step, item: None)
else:
    lines = op.map("lines", found, lambda item: (str(item[0]), f"{item[0]},{item[1]}"))
    op.output("answer", lines, DirSink(Path(out), cores))
