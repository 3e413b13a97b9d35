"""A session with two streams, for the tests of the local engine."""

from __future__ import annotations

import thalweg as tw


def session(*statements: str) -> tw.Session:
    s = tw.local()
    s.execute("CREATE STREAM s (a INT, b STRING); CREATE STREAM r (a INT)")
    for statement in statements:
        s.execute(statement)
    return s
