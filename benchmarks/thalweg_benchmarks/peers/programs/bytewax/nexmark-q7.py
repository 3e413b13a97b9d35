"""The highest bids of each 10 s."""

import os
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import islice
from pathlib import Path

import bytewax.operators as op
import bytewax.operators.windowing as win
import pyarrow.csv
from bytewax.connectors.files import DirSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

data, out, cores = os.environ["DATA"], os.environ["OUT"], int(os.environ["CORES"])


def rows(path):
    options = pyarrow.csv.ReadOptions(column_names=["ts", "auction", "bidder", "price"])
    for batch in pyarrow.csv.open_csv(path, read_options=options):
        yield from zip(*(column.to_pylist() for column in batch.columns))


class InOrder(StatefulSourcePartition):
    """Both partitions as one: a window over all keys needs all rows in order of time."""

    def __init__(self, name):
        self.rows = merge(*(rows(f"{data}/csv/{name}/{part}.csv") for part in "01"))

    def next_batch(self):
        batch = list(islice(self.rows, 1000))
        if not batch:
            raise StopIteration
        return batch

    def snapshot(self):
        return None


class Stream(FixedPartitionedSource):
    def __init__(self, name):
        self.name = name

    def list_parts(self):
        return ["all"]

    def build_part(self, step_id, part, resume_state):
        return InOrder(self.name)


flow = Dataflow("nexmark-q7")
START = datetime.fromtimestamp(1_767_225_600, UTC)
clock = win.EventClock(
    ts_getter=lambda row: datetime.fromtimestamp(row[0] / 1000, UTC),
    wait_for_system_duration=timedelta(0),
    now_getter=lambda: START,
    to_system_utc=lambda at: None,
)
windower = win.TumblingWindower(length=timedelta(seconds=10), align_to=START)


def highest(kept, bid):
    if kept and bid[3] < kept[0][3]:
        return kept
    return [*kept, bid] if kept and bid[3] == kept[0][3] else [bid]


def dated(item):
    window, bids = item[1]
    end = START + timedelta(seconds=10 * window + 10)
    return [(f"{end:%Y-%m-%d %H:%M:%S}", *bid[1:]) for bid in bids]


bids = op.key_on("all", op.input("bid", flow, Stream("bid")), lambda bid: "all")
folded = win.fold_window("highest", bids, clock, windower, list, highest, lambda a, b: a, ordered=False)
found = op.flat_map("dated", folded.down, dated)
if out == "-":
    op.inspect("answer", found, lambda step, item: None)
else:
    lines = op.map("lines", found, lambda row: (row[0], ",".join(map(str, row))))
    op.output("answer", lines, DirSink(Path(out), cores))
