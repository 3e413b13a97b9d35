"""Count and sum of the last 60 s by key, once a window of every 10 s has closed."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bytewax.operators as op
import bytewax.operators.windowing as win
import pyarrow.csv
from bytewax.connectors.files import DirSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

data, out, cores, slide = os.environ["DATA"], os.environ["OUT"], int(os.environ["CORES"]), int(os.environ["SLIDE"])


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


flow = Dataflow("aggregate")
START = datetime.fromtimestamp(1_767_225_600, UTC)
clock = win.EventClock(
    ts_getter=lambda row: datetime.fromtimestamp(row[0] / 1000, UTC),
    wait_for_system_duration=timedelta(0),
    now_getter=lambda: START,
    to_system_utc=lambda at: None,
)
windower = win.SlidingWindower(length=timedelta(seconds=60), offset=timedelta(seconds=slide), align_to=START)


def end_of(window):
    return START + timedelta(seconds=slide * window + 60)


def add(sums, row):
    return sums[0] + 1, sums[1] + row[1]


rows = op.input("s", flow, Stream("s"))
folded = win.fold_window("sums", rows, clock, windower, lambda: (0, 0.0), add, lambda a, b: a, ordered=False)
lines = op.map(
    "lines",
    folded.down,
    lambda item: (item[0], f"{end_of(item[1][0]):%Y-%m-%d %H:%M:%S},{item[0]},{item[1][1][0]},{item[1][1][1]}"),
)
if out == "-":
    op.inspect("answer", lines, lambda step, line: None)
else:
    op.output("answer", lines, DirSink(Path(out), cores))
