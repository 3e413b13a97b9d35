"""Aggregates along the steps of a batch, one file for each family. Exact: no error adds up when values leave."""
