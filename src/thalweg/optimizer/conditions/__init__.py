"""Expressions in fewer words, in one order, and what follows from them."""

from thalweg.optimizer.conditions.fold import fold
from thalweg.optimizer.conditions.order import ordered
from thalweg.optimizer.conditions.simplify import implies, simplify
from thalweg.optimizer.conditions.subjects import subject_of

__all__ = ["fold", "implies", "ordered", "simplify", "subject_of"]
