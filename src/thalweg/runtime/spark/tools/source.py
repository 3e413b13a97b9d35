"""Where a stream's or a table's rows come from, as users write it: NAME=KIND:WHERE. Imports nothing of Spark."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

KINDS = ("csv", "json", "parquet", "zeek", "lbl", "generator", "replay", "socket")


@dataclass(frozen=True)
class Source:
    """One `--source` of the command line, by its parts."""

    name: str
    kind: str
    where: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """As the user may have written it."""
        return f"{self.name}={self.kind}:{self.where}"
