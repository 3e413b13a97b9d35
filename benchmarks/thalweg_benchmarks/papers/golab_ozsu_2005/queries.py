"""The five queries of GolabOzsu2005 §6.1, and the axes and texts that their figures share."""

from __future__ import annotations

from thalweg_benchmarks.papers.experiment import Axis

_LINK = "(SELECT src, dst FROM {link} {{w}} WHERE protocol = {{{protocol}}})"


def _selected(link: str, protocol: str) -> str:
    return _LINK.format(link=link, protocol=protocol)


def join(protocol: str) -> str:
    """Query 1: two links joined on the source, each restricted to a protocol (`few`: ftp, `many`: telnet)."""
    x, y = _selected("a", protocol), _selected("b", protocol)
    return f"SELECT x.src, x.dst, y.dst AS other FROM {x} AS x JOIN {y} AS y ON x.src = y.src"


DISTINCT = "SELECT DISTINCT src FROM a {w}"
DISTINCT_PAIRS = "SELECT DISTINCT src, dst FROM a {w}"
NEGATION = "SELECT src, dst FROM a {w} EXCEPT ALL ON (src) SELECT src, dst FROM b {w}"
DISTINCT_JOIN = (
    "SELECT x.src FROM (SELECT DISTINCT src FROM a {w}) AS x "
    "JOIN (SELECT DISTINCT src FROM b {w}) AS y ON x.src = y.src"
)
JOIN_BELOW = (
    f"SELECT x.src, x.dst, y.dst AS other FROM a {{w}} AS x JOIN {_selected('c', 'few')} AS y ON x.src = y.src "
    "EXCEPT ALL ON (src) SELECT src, dst, dst FROM b {w}"
)
JOIN_ABOVE = (
    f"SELECT x.src, x.dst, y.dst AS other FROM ({NEGATION}) AS x JOIN {_selected('c', 'few')} AS y ON x.src = y.src"
)

WINDOW = Axis("window (ticks; one tuple per link and tick)", log=True)
TIME = Axis("processor time (ms per 1,000 tuples)")
STATE = Axis("tuples stored by operators", log=True)

BY_TICK = "tick by tick at the largest window, ms per 1,000 tuples"

WORKLOAD = (
    "Connections split into links by destination, one tuple per link and tick, hosts as numbers; batches of 1,000 "
    "ticks where the paper goes tuple by tuple; joins clear their sides, and the view of the result is brought up to "
    "date, every twentieth of the window (the paper's lazy interval). Windows are filled before 40 batches are timed; "
    "the fastest of up to three runs counts. All ways must have as many results."
)
