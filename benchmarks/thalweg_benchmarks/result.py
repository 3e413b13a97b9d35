"""The result of a benchmark: a ratio, its target, and whether the ratio meets the target."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Result:
    """One line of `thalweg bench NAME --json`."""

    case: str
    ratio: float
    target: float | None  # None: the ratio is only reported
    at_least: bool = False  # True: the ratio must reach the target; False: it must not exceed it
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the target is met, if there is one."""
        if self.target is None:
            return True
        return self.ratio >= self.target if self.at_least else self.ratio <= self.target

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        basic = {"case": self.case, "ratio": round(self.ratio, 3), "target": self.target, "holds": self.holds}
        return {**basic, "at_least": self.at_least, **self.detail}
