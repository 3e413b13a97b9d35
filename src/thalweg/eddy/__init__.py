"""Continuously adaptive shared queries (seed 003): grouped filters, SteMs and routing; lineage as bitmaps."""

from thalweg.eddy.delivered import Delivered
from thalweg.eddy.eddy import Eddy
from thalweg.eddy.query import SpjQuery, Use, spj
from thalweg.eddy.statistics import EddyStatistics, OperatorStatistics

__all__ = ["Delivered", "Eddy", "EddyStatistics", "OperatorStatistics", "SpjQuery", "Use", "spj"]
