"""Streams to start from: each is a function that gives a streaming DataFrame.

Where a row can be unreadable, the DataFrame has two more columns, ASIDE: such a row has its text in the first and the
reason in the second, and NULL everywhere else. `split_aside` parts the two kinds; nothing is ever dropped here.
"""

from thalweg.runtime.spark.sources.aside import ASIDE, split_aside
from thalweg.runtime.spark.sources.directory import directory
from thalweg.runtime.spark.sources.generator import generator
from thalweg.runtime.spark.sources.lbl import lbl
from thalweg.runtime.spark.sources.replay import replay
from thalweg.runtime.spark.sources.socket import socket
from thalweg.runtime.spark.sources.zeek import zeek

__all__ = ["ASIDE", "directory", "generator", "lbl", "replay", "socket", "split_aside", "zeek"]
