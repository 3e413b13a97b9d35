"""The multi-way join of GolabOzsu2003: nested loops, hash and hybrid; eager and lazy; any order for each source."""

from thalweg.kernel.multi_join.join import MultiJoin
from thalweg.kernel.multi_join.lazy import LazyMultiJoin

__all__ = ["LazyMultiJoin", "MultiJoin"]
