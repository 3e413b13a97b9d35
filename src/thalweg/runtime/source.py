"""A `--source` of the command line. It is read before Spark is imported, and used by the engine on Spark."""

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
