"""Functions that run inside Spark's tasks."""
