"""The multi-way join of GolabOzsu2003: nested loops, hash and hybrid; eager and lazy; an order for each source.

A *source* is the input whose new tuples are joined; a *walk* joins them with one other input after the other.
"""

from thalweg.kernel.multi_join.join import MultiJoin
from thalweg.kernel.multi_join.lazy import LazyMultiJoin

__all__ = ["LazyMultiJoin", "MultiJoin"]
