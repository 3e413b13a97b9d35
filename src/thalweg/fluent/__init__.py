"""The Python way to write a query; it builds the same plans as CQL."""
