"""Statistics of a source, for estimates: its rate, its size, and the distinct values of its columns.

No answer depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thalweg.core.errors import PlanError


@dataclass(frozen=True)
class SourceStatistics:
    """The `rate` of a stream in rows per tick, or the `rows` of a table; `distinct` values by column. None is unknown.

    `origin` says where the numbers come from: declared, sampled, or measured in a run.
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
        """These statistics, completed by those of `other`."""
        return replace(
            self,
            rate=other.rate if self.rate is None else self.rate,
            rows=other.rows if self.rows is None else self.rows,
            distinct={**other.distinct, **self.distinct},
        )

    def as_json(self) -> dict[str, Any]:
        """The statistics as JSON, for checkpoints and EXPLAIN."""
        return {"rate": self.rate, "rows": self.rows, "distinct": dict(self.distinct), "origin": self.origin}

    @staticmethod
    def from_json(tree: Mapping[str, Any]) -> SourceStatistics:
        """The statistics that `as_json` wrote."""
        return SourceStatistics(tree["rate"], tree["rows"], dict(tree["distinct"]), tree["origin"])
