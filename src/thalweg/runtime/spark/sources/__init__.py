"""Streams to start from: each is a function that gives a streaming DataFrame, or an `ArrowSource`, which is faster.

`Engine.stream` takes both; `dataframe()` makes a DataFrame of an ArrowSource. Where a row can be unreadable, there are
two more columns, ASIDE: such a row has its text in the first and the reason in the second, and NULL everywhere else.
`split_aside` parts the two kinds; nothing is ever dropped here.
"""

from thalweg.runtime.spark.sources.arrow import ArrowSource
from thalweg.runtime.spark.sources.aside import ASIDE, split_aside
from thalweg.runtime.spark.sources.directory import directory
from thalweg.runtime.spark.sources.generator import generator
from thalweg.runtime.spark.sources.lbl import lbl
from thalweg.runtime.spark.sources.parquet import parquet
from thalweg.runtime.spark.sources.replay import replay
from thalweg.runtime.spark.sources.socket import socket
from thalweg.runtime.spark.sources.zeek import zeek

__all__ = [
    "ASIDE",
    "ArrowSource",
    "directory",
    "generator",
    "lbl",
    "parquet",
    "replay",
    "socket",
    "split_aside",
    "zeek",
]
