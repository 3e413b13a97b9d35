"""Auctions of a category whose sellers live in three states."""

import os
from pathlib import Path

import bytewax.operators as op
import pyarrow.csv
from bytewax.connectors.files import DirSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

data, out, cores = os.environ["DATA"], os.environ["OUT"], int(os.environ["CORES"])
AUCTION = ["ts", "id", "item", "category", "initial_bid", "reserve", "seller", "expires"]
PERSON = ["ts", "id", "name", "email", "city", "state"]


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


flow = Dataflow("nexmark-q3")


def match(state, row):
    """`state` holds a person, once there is one, and the auctions that wait for it."""
    person, waiting = state or (None, [])
    if isinstance(row, tuple):
        return (row, []), [(*row, auction) for auction in waiting]
    if person is None:
        return (person, [*waiting, row]), []
    return (person, waiting), [(*person, row)]


auctions = op.filter("category", op.input("auction", flow, Stream("auction", AUCTION)), lambda row: row[3] == 3)
persons = op.filter(
    "states", op.input("person", flow, Stream("person", PERSON)), lambda row: row[5] in ("OR", "ID", "CA")
)
by_seller = op.map("by seller", auctions, lambda row: (str(row[6]), row[1]))
by_id = op.map("by id", persons, lambda row: (str(row[1]), (row[2], row[4], row[5])))
found = op.stateful_flat_map("found", op.merge("both", by_seller, by_id), match)
if out == "-":
    op.inspect("answer", found, lambda step, item: None)
else:
    lines = op.map("lines", found, lambda item: (item[0], ",".join(map(str, item[1]))))
    op.output("answer", lines, DirSink(Path(out), cores))
