"""Every CQL error word for word, from errors.txt: `>>>` a wrong text, below it what the user reads.

Would catch an error that loses its caret, points elsewhere, or stops helping. To accept new wording, run this
file as a program and read the diff.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cql.catalogue import catalogue
from thalweg.core.errors import ThalwegError
from thalweg.cql import compile_script

GOLDEN = Path(__file__).parent / "errors.txt"


def cases() -> list[tuple[str, str]]:
    blocks = GOLDEN.read_text().split(">>> ")[1:]
    return [(query, expected.rstrip()) for query, _, expected in (block.partition("\n") for block in blocks)]


def error_text(cql: str) -> str:
    with pytest.raises(ThalwegError) as caught:
        compile_script(cql, catalogue())
    return f"{type(caught.value).__name__}: {caught.value}"


@pytest.mark.parametrize(("cql", "expected"), cases(), ids=[query for query, _ in cases()])
def test_error_text(cql: str, expected: str) -> None:
    assert error_text(cql) == expected


def test_every_error_points_at_its_place() -> None:
    """Only a text that is empty where the mistake is may go without a caret."""
    without = [query for query, expected in cases() if "^" not in expected]
    assert without == []


if __name__ == "__main__":
    GOLDEN.write_text("".join(f">>> {query}\n{error_text(query)}\n\n" for query, _ in cases()))
