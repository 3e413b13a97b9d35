"""By category, the average of the highest bids: what enters (1) and what leaves (-1)."""

import os
from pathlib import Path

import bytewax.operators as op
import pyarrow.csv
from bytewax.connectors.files import DirSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

data, out, cores = os.environ["DATA"], os.environ["OUT"], int(os.environ["CORES"])
AUCTION = ["ts", "id", "item", "category", "initial_bid", "reserve", "seller", "expires"]
BID = ["ts", "auction", "bidder", "price"]


class Partition(StatefulSourcePartition):
    def __init__(self, path, columns):
        options = pyarrow.csv.ReadOptions(column_names=columns, block_size=1 << 16)
        self.batches = pyarrow.csv.open_csv(path, read_options=options)

    def next_batch(self):
        columns = self.batches.read_next_batch().columns
        return list(zip(*(column.to_pylist() for column in columns)))

    def snapshot(self):
        return None


class Stream(FixedPartitionedSource):
    def __init__(self, name, columns):
        self.name, self.columns = name, columns

    def list_parts(self):
        return ["0", "1"]

    def build_part(self, step_id, part, resume_state):
        return Partition(f"{data}/csv/{self.name}/{part}.csv", self.columns)


flow = Dataflow("nexmark-q4")


def highest(state, row):
    """`state` holds an auction, once it is there, the bids that wait for it, and the highest bid so far."""
    auction, waiting, most = state or (None, [], None)
    if row[0] == "auction":
        auction, bids, waiting = row, waiting, []
    elif auction is None:
        return (auction, [*waiting, row], most), []
    else:
        bids = [row]
    found = [price for _, ts, price in bids if auction[1] <= ts <= auction[2]]
    new = max(found + ([] if most is None else [most]), default=None)
    return (auction, waiting, new), [] if new == most else [(auction[3], most, new)]


def average(state, change):
    count, total = state or (0, 0)
    gone = [] if not count else [(-1, total / count)]
    _, old, new = change
    count, total = count + (old is None), total + new - (old or 0)
    return (count, total), [*gone, (1, total / count)]


auctions = op.input("auction", flow, Stream("auction", AUCTION))
auctions = op.map("by id", auctions, lambda row: (str(row[1]), ("auction", row[0], row[7], row[3])))
bids = op.map(
    "by auction", op.input("bid", flow, Stream("bid", BID)), lambda row: (str(row[1]), ("bid", row[0], row[3]))
)
changes = op.stateful_flat_map("highest", op.merge("both", auctions, bids), highest)
by_category = op.map("by category", changes, lambda item: (str(item[1][0]), item[1]))
averages = op.stateful_flat_map("average", by_category, average)
if out == "-":
    op.inspect("answer", averages, lambda step, item: None)
else:
    lines = op.map("lines", averages, lambda item: (item[0], f"{item[1][0]},{item[0]},{item[1][1]}"))
    op.output("answer", lines, DirSink(Path(out), cores))
