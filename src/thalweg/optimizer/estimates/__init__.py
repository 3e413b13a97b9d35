"""Estimates of the traffic over every edge of a plan: rates, tuples alive, distinct values, negative tuples."""

from thalweg.optimizer.estimates.estimate import Estimate, ExpiryApproach, estimate
from thalweg.optimizer.estimates.selectivity import distinct_values, join_selectivity
from thalweg.optimizer.estimates.traffic import Traffic

__all__ = ["Estimate", "ExpiryApproach", "Traffic", "distinct_values", "estimate", "join_selectivity"]
