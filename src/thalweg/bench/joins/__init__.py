"""`thalweg bench joins`: multi-way joins (GolabOzsu2003 §6): orders, methods, and trees of binary joins."""

from thalweg.bench.joins.run import run

__all__ = ["run"]
