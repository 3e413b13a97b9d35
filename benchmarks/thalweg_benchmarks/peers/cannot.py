"""What a peer cannot say, and why: a result like any other."""

from __future__ import annotations

_CANNOT: dict[tuple[str, str], str] = {
    ("spark", "nexmark-q4"): (
        "an average over maxima that still change is an aggregate over an aggregate in update mode, which structured"
        " streaming refuses"
    ),
    ("spark", "nexmark-q6"): (
        "windows by count do not exist, and waiting for a time that stands in a row takes state machines of one's own"
    ),
    ("flink", "nexmark-q6"): (
        "OVER windows refuse input that takes rows back, and the highest bid of an auction is such input"
    ),
}


def why_not(peer: str, query: str) -> str:
    """One sentence, or nothing if the peer has a program for the query."""
    return _CANNOT.get((peer, query), "")
