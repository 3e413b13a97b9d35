"""Rows from CSV, JSON lines, Parquet, Zeek and LBL files, by the types that a stream or table declares."""

from thalweg.runtime.local.files.events import BadRows, Event, arrivals, updates
from thalweg.runtime.local.files.find import find_files, no_such_file

__all__ = ["BadRows", "Event", "arrivals", "find_files", "no_such_file", "updates"]
