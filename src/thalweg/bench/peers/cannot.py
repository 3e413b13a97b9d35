"""What a peer cannot say, and why: a result like any other."""

from __future__ import annotations

_CANNOT: dict[tuple[str, str], str] = {}


def why_not(peer: str, query: str) -> str:
    """One sentence, or nothing if the peer has a program for the query."""
    return _CANNOT.get((peer, query), "")
