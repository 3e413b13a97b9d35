"""A plan as a one-time relational query (docs/semantics.md, Definition 1), in SQL."""

from thalweg.algebra.sql.query import one_time_sql

__all__ = ["one_time_sql"]
