"""What is known of a source that no answer depends on: how fast it is, and how many values its columns have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thalweg.core.errors import PlanError


@dataclass(frozen=True)
class SourceStatistics:
    """`rate` in rows per tick, for a table `rows`; `distinct` values by column. Whatever is not there is not known.

    `origin` says how one came to know: declared, sampled or learned.
    """

    rate: float | None = None
    rows: float | None = None
    distinct: Mapping[str, float] = field(default_factory=dict)
    origin: str = "declared"

    def __post_init__(self) -> None:
        numbers = {"rate": self.rate, "rows": self.rows, **{f"distinct {c}": n for c, n in self.distinct.items()}}
        for name, number in numbers.items():
            if number is not None and not number > 0:
                raise PlanError(f"{name} must be greater than zero, not {number:g}")

    def over(self, other: SourceStatistics) -> SourceStatistics:
        """This, and what only `other` knows."""
        return replace(
            self,
            rate=other.rate if self.rate is None else self.rate,
            rows=other.rows if self.rows is None else self.rows,
            distinct={**other.distinct, **self.distinct},
        )

    def as_json(self) -> dict[str, Any]:
        """For a checkpoint, or to be read."""
        return {"rate": self.rate, "rows": self.rows, "distinct": dict(self.distinct), "origin": self.origin}

    @staticmethod
    def from_json(tree: Mapping[str, Any]) -> SourceStatistics:
        """What `as_json` gave."""
        return SourceStatistics(tree["rate"], tree["rows"], dict(tree["distinct"]), tree["origin"])
