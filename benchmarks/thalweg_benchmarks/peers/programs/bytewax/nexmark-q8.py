"""Persons who registered and opened an auction within the same 10 s."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bytewax.operators as op
import bytewax.operators.windowing as win
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


flow = Dataflow("nexmark-q8")
START = datetime.fromtimestamp(1_767_225_600, UTC)
clock = win.EventClock(
    ts_getter=lambda row: datetime.fromtimestamp(row[0] / 1000, UTC),
    wait_for_system_duration=timedelta(seconds=60),
    now_getter=lambda: START,
    to_system_utc=lambda at: None,
)
windower = win.TumblingWindower(length=timedelta(seconds=10), align_to=START)


def both(seen, row):
    return seen[0] or row[1], seen[1] or row[1] is None


persons = op.map(
    "by id", op.input("person", flow, Stream("person", PERSON)), lambda row: (str(row[1]), (row[0], row[2]))
)
sellers = op.map(
    "by seller", op.input("auction", flow, Stream("auction", AUCTION)), lambda row: (str(row[6]), (row[0], None))
)
rows = op.merge("rows", persons, sellers)
folded = win.fold_window("both", rows, clock, windower, lambda: (None, False), both, lambda a, b: a, ordered=False)
found = op.filter_value("found", folded.down, lambda window: all(window[1]))
if out == "-":
    op.inspect("answer", found, lambda step, item: None)
else:
    lines = op.map(
        "lines",
        found,
        lambda item: (
            item[0],
            f"{START + timedelta(seconds=10 * item[1][0] + 10):%Y-%m-%d %H:%M:%S},{item[0]},{item[1][1][0]}",
        ),
    )
    op.output("answer", lines, DirSink(Path(out), cores))
