"""The network connections that GolabOzsu2005 and PatroumpasSellis2011 query: recorded, or else generated.

The papers use the trace LBL-CONN-7, which is read if it is there, or else Zeek's connection logs, which are similar.
Without a folder of recorded data the generator `connections` makes them. Recorded times are ignored, as in the papers:
the experiment says how many tuples a tick has. A trace that is too short is repeated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from thalweg.core.batch import Batch
from thalweg.core.errors import ThalwegError
from thalweg.core.lanes import Ints, Lane
from thalweg.formats.lbl import read_lbl
from thalweg.generators.connections import connections
from thalweg_benchmarks.papers.experiment import Scale

LINKS = 3
GENERATED = 750_000  # rows
BUSIEST = 50  # sources in Zeek's logs that are joined with nothing


@dataclass(frozen=True)
class Trace:
    """The columns of a trace, names as numbers; a host has the same number as source and as destination.

    `partner` is the column that `src` is joined with. `few` is the protocol of a selective predicate (ftp), `many` a
    protocol that is about three times as frequent (telnet).
    """

    name: str
    protocol: Ints
    src: Ints
    dst: Ints
    partner: Ints
    duration: Lane
    link: Ints
    few: int
    many: int

    def stream(self, rows: Ints) -> TraceStream:
        """A stream of these rows."""
        return TraceStream(
            (self.protocol[rows], self.src[rows], self.dst[rows], self.partner[rows], self.duration[rows])
        )

    def links(self, count: int) -> list[TraceStream]:
        """A stream for each of the first `count` links."""
        return [self.stream(np.flatnonzero(self.link == link)) for link in range(count)]

    def only(self, protocols: int) -> Trace:
        """The rows of the `protocols` most frequent protocols."""
        counts = np.bincount(self.protocol)
        rows = np.isin(self.protocol, np.argsort(-counts, kind="stable")[:protocols])
        lanes = {name: getattr(self, name)[rows] for name in ("protocol", "src", "dst", "partner", "duration", "link")}
        return replace(self, **lanes)

    def dealt(self, count: int) -> list[TraceStream]:
        """All rows, dealt to `count` streams in turn."""
        return [self.stream(np.arange(i, len(self.src), count)) for i in range(count)]


@dataclass(frozen=True)
class TraceStream:
    """An endless stream of tuples (protocol, src, dst, partner, duration)."""

    lanes: tuple[Lane, ...]

    COLUMNS = "protocol INT, src INT, dst INT, partner INT, duration DOUBLE"

    def batch(self, first: int, ts: Ints, dated: bool = False) -> Batch:
        """The tuples from number `first` on, one for each time in `ts`."""
        rows = np.arange(first, first + len(ts)) % len(self.lanes[0])
        return Batch.of_arrivals(tuple(lane[rows] for lane in self.lanes), ts, dated)


def trace(scale: Scale) -> Trace:
    """The connections of a run."""
    return _recorded(scale.data) if scale.data is not None else _generated(scale.pick(GENERATED, 20_000))


@lru_cache(maxsize=2)
def _generated(rows: int) -> Trace:
    table = connections(seed=0, first_row=0, rows=rows, links=LINKS)
    protocol, names = _numbers(table["protocol"])
    src, dst = _together(table["src"], table["dst"])
    link, duration = table["link"].to_numpy(), table["duration"].to_numpy()
    return Trace("generated", protocol, src, dst, dst, duration, link, names["ftp"], names["telnet"])


@lru_cache(maxsize=2)
def _recorded(folder: Path) -> Trace:
    for path in sorted(folder.glob("[lL][bB][lL]-[cC][oO][nN][nN]-7*")):
        return _lbl(path)
    for path in sorted(folder.glob("zeek_conn_*.parquet")):
        return _zeek(path)
    raise ThalwegError(
        f"there are no connections in {folder}",
        hint="it may hold LBL-CONN-7's text as lbl-conn-7*, or Zeek's connection logs as zeek_conn_*.parquet",
    )


def _lbl(path: Path) -> Trace:
    table = pa.concat_tables(chunk.table for chunk in read_lbl(str(path)))
    protocol, names = _numbers(table["protocol"])
    src, _ = _numbers(table["local_host"])
    dst, _ = _numbers(table["remote_host"])
    duration = pc.fill_null(table["duration"], 0.0).to_numpy()
    return Trace("LBL-CONN-7", protocol, src, dst, dst, duration, dst % LINKS, names["ftp"], names["telnet"])


def _zeek(path: Path) -> Trace:
    """Links are dealt in turn, and sources are joined with sources, because nearly all have one destination.

    The busiest sources have no partners: they have two fifths of the connections, and would make hundreds of millions
    of pairs.
    """
    table = pq.read_table(path, columns=["service", "id.orig_h", "id.resp_h", "duration"])
    protocol, names = _numbers(pc.fill_null(table["service"].cast(pa.string()), "none"))
    src, dst = _together(table["id.orig_h"], table["id.resp_h"])
    duration = pc.fill_null(table["duration"], 0.0).to_numpy()
    busiest = np.argsort(-np.bincount(src), kind="stable")[:BUSIEST]
    partner = np.where(np.isin(src, busiest), -1, src) if len(src) > BUSIEST else src
    return Trace(
        "Zeek", protocol, src, dst, partner, duration, np.arange(len(src)) % LINKS, names["http"], names["ssh"]
    )


def _numbers(names: pa.ChunkedArray) -> tuple[Ints, dict[str, int]]:
    coded = names.combine_chunks().dictionary_encode()
    values = coded.dictionary.to_pylist()
    return coded.indices.to_numpy().astype(np.int64), {value: i for i, value in enumerate(values)}


def _together(one: pa.ChunkedArray, other: pa.ChunkedArray) -> tuple[Ints, Ints]:
    both, _ = _numbers(pa.chunked_array([*one.chunks, *other.chunks]))
    return both[: len(one)], both[len(one) :]
