"""Golden files: what EXPLAIN says, kept as text. `UPDATE_GOLDEN=1 pytest tests/explain` writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def golden(name: str, actual: str) -> str:
    """The text that `name` is known to have; `actual` becomes that text when goldens are being updated."""
    path = FOLDER / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_text(actual, encoding="utf-8")
    return path.read_text(encoding="utf-8")
