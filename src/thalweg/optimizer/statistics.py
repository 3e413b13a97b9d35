"""What plans are costed with: statistics of sources, and what was measured of sub-plans while they ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.algebra.statistics import SourceStatistics

# Where nothing is known. The absolute values cancel out between plans; what matters is that streams are alike.
ASSUMED_RATE = 1.0  # rows per tick, or per second
ASSUMED_ROWS = 1000.0
ASSUMED_DISTINCT = 100.0


@dataclass(frozen=True)
class Measured:
    """What a sub-plan's output was seen to do: results per tick, and the share of them deleted before their time."""

    rate: float
    premature: float = 0.0


@dataclass(frozen=True)
class Statistics:
    """By name of a source what is known of it, and by sub-plan (see `named`) what was measured of its output."""

    sources: Mapping[str, SourceStatistics] = field(default_factory=dict)
    measured: Mapping[str, Measured] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether every cost would rest on assumptions."""
        return not self.sources and not self.measured

    def of(self, name: str) -> SourceStatistics:
        """What is known of a source."""
        return self.sources.get(name, SourceStatistics(origin="assumed"))

    def over(self, other: Statistics) -> Statistics:
        """These, and what only `other` knows."""
        names = {**other.sources, **self.sources}
        sources = {name: self.of(name).over(other.of(name)) for name in names}
        sources = {name: replace(s, origin=names[name].origin) for name, s in sources.items()}
        return Statistics(sources, {**other.measured, **self.measured})

    def as_json(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {
            "sources": {name: known.as_json() for name, known in self.sources.items()},
            "measured": {name: {"rate": m.rate, "premature": m.premature} for name, m in self.measured.items()},
        }

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> Statistics:
        """What `as_json` gave."""
        return Statistics(
            {name: SourceStatistics.from_json(known) for name, known in told["sources"].items()},
            {name: Measured(**known) for name, known in told["measured"].items()},
        )


def declared(plans: Iterable[Plan]) -> Statistics:
    """What the declarations of the sources below say."""
    leaves = (leaf.source for plan in plans for leaf in plan.walk() if isinstance(leaf, StreamScan | RelationScan))
    return Statistics({source.name: source.statistics for source in leaves if source.statistics is not None})
