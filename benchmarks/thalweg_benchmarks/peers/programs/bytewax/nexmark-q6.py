"""By seller, the average price of the last ten auctions that have ended: what enters (1) and what leaves (-1)."""

import os
from collections import defaultdict, deque
from heapq import heappop, heappush, merge
from itertools import islice
from pathlib import Path

import bytewax.operators as op
import pyarrow.csv
from bytewax.connectors.files import DirSink
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

data, out, cores = os.environ["DATA"], os.environ["OUT"], int(os.environ["CORES"])
AUCTION = ["ts", "id", "item", "category", "initial_bid", "reserve", "seller", "expires"]
BID = ["ts", "auction", "bidder", "price"]


def rows(name, columns, part):
    options = pyarrow.csv.ReadOptions(column_names=columns)
    for batch in pyarrow.csv.open_csv(f"{data}/csv/{name}/{part}.csv", read_options=options):
        for row in zip(*(column.to_pylist() for column in batch.columns)):
            yield row[0], name, row


class InOrder(StatefulSourcePartition):
    """All partitions of both streams as one: who waits for the end of an auction must see all rows in order of time."""

    def __init__(self):
        streams = (("auction", AUCTION), ("bid", BID))
        self.rows = merge(*(rows(name, columns, part) for name, columns in streams for part in "01"))

    def next_batch(self):
        batch = list(islice(self.rows, 1000))
        if not batch:
            raise StopIteration
        return [("all", (name, row)) for _, name, row in batch]

    def snapshot(self):
        return None


class Stream(FixedPartitionedSource):
    def list_parts(self):
        return ["all"]

    def build_part(self, step_id, part, resume_state):
        return InOrder()


flow = Dataflow("nexmark-q6")


def averages(state, item):
    """`state` holds open auctions by their ends, the highest bids on them, and the last ten prices of each seller."""
    ends, highest, sellers = state or ([], {}, defaultdict(lambda: deque(maxlen=10)))
    name, row = item
    changes = []
    while ends and ends[0][0] < row[0]:
        _, auction, seller = heappop(ends)
        price = highest.pop(auction, None)
        if price is not None:
            last = sellers[seller]
            if last:
                changes.append((-1, seller, sum(last) / len(last)))
            last.append(price)
            changes.append((1, seller, sum(last) / len(last)))
    if name == "auction":
        heappush(ends, (row[7], row[1], row[6]))
    else:
        highest[row[1]] = max(row[3], highest.get(row[1], 0))
    return (ends, highest, sellers), changes


changes = op.stateful_flat_map("averages", op.input("rows", flow, Stream()), averages)
if out == "-":
    op.inspect("answer", changes, lambda step, item: None)
else:
    lines = op.map("lines", changes, lambda item: (item[0], ",".join(map(str, item[1]))))
    op.output("answer", lines, DirSink(Path(out), cores))
