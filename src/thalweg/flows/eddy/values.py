"""Sets of values of one attribute, as the cuts where membership changes; and the truth of a predicate by value.

    a > 3 and a <= 7        true  between the cut after 3 and the cut after 7
    a <> 5 or a is null     true  up to the cut before 5, from the cut after 5, and for NULL

All comparisons with constants, alone or combined, are such sets, so one index can hold them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Constant = int | float
Cut = tuple[Constant, int]  # before (0) or after (1) a value

_LOWEST: Cut = (float("-inf"), 0)


@dataclass(frozen=True)
class ValueSet:
    """Values between the first and second cut, the third and fourth cut, ...; with or without NULL."""

    cuts: tuple[Cut, ...]
    null: bool = False

    def __contains__(self, value: Constant | None) -> bool:
        if value is None:
            return self.null
        return sum(cut <= (value, 0) for cut in self.cuts) % 2 == 1

    def meet(self, other: ValueSet) -> ValueSet:
        """The intersection."""
        return ValueSet(_combine(self.cuts, other.cuts, lambda a, b: a and b), self.null and other.null)

    def join(self, other: ValueSet) -> ValueSet:
        """The union."""
        return ValueSet(_combine(self.cuts, other.cuts, lambda a, b: a or b), self.null or other.null)


NOTHING = ValueSet(())
ONLY_NULL = ValueSet((), True)
NO_NULL = ValueSet((_LOWEST,))


@dataclass(frozen=True)
class Truth:
    """The values where a predicate is true, and those where it is false; elsewhere it is NULL."""

    true: ValueSet
    false: ValueSet

    def negated(self) -> Truth:
        """NOT: true where it was false."""
        return Truth(self.false, self.true)

    def both(self, other: Truth) -> Truth:
        """AND in three-valued logic."""
        return Truth(self.true.meet(other.true), self.false.join(other.false))

    def either(self, other: Truth) -> Truth:
        """OR in three-valued logic."""
        return Truth(self.true.join(other.true), self.false.meet(other.false))


UNKNOWN = Truth(NOTHING, NOTHING)


def compared(function: str, constant: Constant) -> Truth:
    """`value function constant`, unknown for NULL."""
    before, after = (constant, 0), (constant, 1)
    match function:
        case "=":
            return Truth(ValueSet((before, after)), ValueSet((_LOWEST, before, after)))
        case "<":
            return Truth(ValueSet((_LOWEST, before)), ValueSet((before,)))
        case "<=":
            return Truth(ValueSet((_LOWEST, after)), ValueSet((after,)))
        case "<>" | ">=" | ">":
            return compared({"<>": "=", ">=": "<", ">": "<="}[function], constant).negated()
    raise ValueError(f"{function} does not compare")


def _combine(one: tuple[Cut, ...], other: tuple[Cut, ...], keep: Callable[[bool, bool], bool]) -> tuple[Cut, ...]:
    """The cuts at which a combination of two memberships changes."""
    mine, theirs, inside = False, False, False
    cuts = []
    for cut in sorted({*one, *other}):
        mine ^= cut in one
        theirs ^= cut in other
        if keep(mine, theirs) != inside:
            inside = not inside
            cuts.append(cut)
    return tuple(cuts)
