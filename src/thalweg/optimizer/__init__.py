"""From a plan to an equivalent, cheaper one: rewrite rules, estimates, costs per unit time, join orders."""

from thalweg.optimizer.rewrite import RewriteStep, Rewritten, rewrite
from thalweg.optimizer.rules import CHOICES, RULES, Rule

__all__ = ["CHOICES", "RULES", "RewriteStep", "Rewritten", "Rule", "rewrite"]
