"""Rows from CSV, JSON lines, Parquet, Zeek and LBL files, by the types that a stream or table declares."""

from thalweg.formats.recorded.events import BadRows, RecordedEvent, arrivals, updates
from thalweg.formats.recorded.records import find_files, no_such_file

__all__ = ["BadRows", "RecordedEvent", "arrivals", "find_files", "no_such_file", "updates"]
