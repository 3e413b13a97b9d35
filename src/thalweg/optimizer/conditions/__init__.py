"""Conditions: constants folded, parts ordered, redundant parts left out, and what conditions imply."""

from thalweg.optimizer.conditions.fold import fold
from thalweg.optimizer.conditions.order import ordered
from thalweg.optimizer.conditions.simplify import implies, simplify
from thalweg.optimizer.conditions.subjects import subject_of

__all__ = ["fold", "implies", "ordered", "simplify", "subject_of"]
