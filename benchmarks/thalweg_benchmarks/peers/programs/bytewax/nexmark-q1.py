"""Bids with their prices in euros."""

import os
from pathlib import Path

import bytewax.operators as op
import pyarrow.csv
from bytewax.connectors.files import DirSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

data, out, cores = os.environ["DATA"], os.environ["OUT"], int(os.environ["CORES"])


class Partition(StatefulSourcePartition):
    def __init__(self, path):
        options = pyarrow.csv.ReadOptions(column_names=["ts", "auction", "bidder", "price"], block_size=1 << 16)
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


flow = Dataflow("nexmark-q1")
bids = op.input("bid", flow, Stream("bid"))
euros = op.map("euros", bids, lambda bid: (bid[1], bid[2], 0.908 * bid[3]))
if out == "-":
    op.inspect("answer", euros, lambda step, item: None)
else:
    lines = op.map("lines", euros, lambda bid: (str(bid[0]), f"{bid[0]},{bid[1]},{bid[2]}"))
    op.output("answer", lines, DirSink(Path(out), cores))
