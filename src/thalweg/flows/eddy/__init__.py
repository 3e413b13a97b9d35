"""Continuously adaptive shared queries (MaddenEtAl2002): grouped filters, SteMs and routing; lineage as bitmaps."""

from thalweg.flows.eddy.delivered import Delivered
from thalweg.flows.eddy.eddy import Eddy
from thalweg.flows.eddy.query import SpjQuery, Use, spj
from thalweg.flows.eddy.statistics import EddyStatistics, OperatorStatistics
from thalweg.flows.eddy.tuning import EddyTuning

__all__ = ["Delivered", "Eddy", "EddyStatistics", "EddyTuning", "OperatorStatistics", "SpjQuery", "Use", "spj"]
