"""A plan as the one-time relational query that Definition 1 speaks of, in SQL."""

from thalweg.algebra.sql.query import one_time_sql

__all__ = ["one_time_sql"]
