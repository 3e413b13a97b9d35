"""The Python way to write a query; it builds the same plans as CQL."""

from thalweg.fluent.column import Col, call, col, lit
from thalweg.fluent.table import GroupedTable, OrderedTable, Table

__all__ = ["Col", "GroupedTable", "OrderedTable", "Table", "call", "col", "lit"]
