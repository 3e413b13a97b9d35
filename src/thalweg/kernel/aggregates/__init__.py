"""Aggregates along the steps of a batch, one file per family. Exact: nothing drifts when values leave."""
