"""Plans that keep the answer and cost less: rewrite rules, costs per unit time, join orders."""

from thalweg.optimizer.rewrite import Rewritten, Step, rewrite
from thalweg.optimizer.rules import CHOICES, RULES, Rule

__all__ = ["CHOICES", "RULES", "Rewritten", "Rule", "Step", "rewrite"]
