"""sigma_F(S1 - S2) = sigma_F(S1) - sigma_F(S2) for F over the compared attributes alone."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.plan import Negation, Plan, Select
from thalweg.optimizer.columns import moved, selected, split
from thalweg.optimizer.conditions import tells_zeros_apart


def push_selection_below_negation(plan: Plan) -> Plan | None:
    """Both sides drop whole values, so that the counts of equation 1 (GolabOzsu2005) stay as they are for the others.

    Parts over the `on` attributes only. Any other part would change how many left rows a value has, and with it how
    many of them the right rows leave over.
    """
    match plan:
        case Select(Negation(left, right, on) as negation, predicate):
            partner = dict(on)
            down, stay = split(predicate, lambda read: read <= partner.keys())
            if down and not any(map(tells_zeros_apart, down)):
                theirs = selected(right, [moved(part, partner) for part in down])
                return selected(replace(negation, left=selected(left, down), right=theirs), stay)
    return None
