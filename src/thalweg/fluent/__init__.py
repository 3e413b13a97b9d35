"""The Python way to write a query; it builds the same plans as CQL."""

from thalweg.fluent.column import Col, col, lit
from thalweg.fluent.table import GroupedTable, OrderedTable, Table

__all__ = ["Col", "GroupedTable", "OrderedTable", "Table", "col", "lit"]
