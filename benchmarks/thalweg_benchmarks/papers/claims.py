"""Predicates for claims. Each compares series at the x that both have, and reports the numbers it compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from thalweg_benchmarks.papers.experiment import Claim, Finding, Series, X

Where = Callable[[X], bool]


def everywhere(_: X) -> bool:
    """Every x."""
    return True


def since(least: float) -> Where:
    """Every x that is at least `least`."""
    return lambda x: isinstance(x, str) or x >= least


def until(most: float) -> Where:
    """Every x that is at most `most`."""
    return lambda x: isinstance(x, str) or x <= most


def below(lower: str, upper: str, says: str, *, by: float = 1.0, where: Where = everywhere, why: str = "") -> Claim:
    """At every x that both have, `upper` is at least `by` times as large as `lower`."""

    def test(series: Series) -> Finding:
        ratios = _ratios(series, upper, lower, where)
        return Finding(_all(ratios, lambda ratio: ratio >= by), f"{upper} / {lower}: {spread(ratios.values())}")

    return Claim(says, test, why)


def below_at_end(lower: str, upper: str, says: str, *, by: float = 1.0, why: str = "") -> Claim:
    """At the largest x that both have, `upper` is at least `by` times as large as `lower`."""

    def test(series: Series) -> Finding:
        ratios = _ratios(series, upper, lower, everywhere)
        last = dict(list(ratios.items())[-1:])
        at = "".join(f" at {number(x)}" for x in last)
        return Finding(_all(last, lambda ratio: ratio >= by), f"{upper} / {lower}{at}: {spread(last.values())}")

    return Claim(says, test, why)


def alike(one: str, other: str, says: str, *, within: float, where: Where = everywhere, why: str = "") -> Claim:
    """At every x that both have, the two series differ by the factor `within` at most."""

    def test(series: Series) -> Finding:
        ratios = _ratios(series, one, other, where)
        holds = _all(ratios, lambda ratio: 1 / within <= ratio <= within)
        return Finding(holds, f"{one} / {other}: {spread(ratios.values())}")

    return Claim(says, test, why)


def grows(name: str, says: str, *, least: float = 1.0, most: float = float("inf"), why: str = "") -> Claim:
    """From the first x to the last, a series grows by a factor between `least` and `most`."""

    def test(series: Series) -> Finding:
        values = list(series.get(name, {}).values())
        if len(values) < 2 or values[0] <= 0:
            return Finding(False, f"{name}: not enough numbers")
        factor = values[-1] / values[0]
        return Finding(least <= factor <= most, f"{name}, last / first: {number(factor)}")

    return Claim(says, test, why)


def widens(lower: str, upper: str, says: str, *, by: float = 1.0, why: str = "") -> Claim:
    """The ratio of `upper` to `lower` is at least `by` times as large at the last x as at the first."""

    def test(series: Series) -> Finding:
        ratios = list(_ratios(series, upper, lower, everywhere).values())
        if len(ratios) < 2:
            return Finding(False, f"{upper} / {lower}: not enough numbers")
        seen = f"{upper} / {lower}: first {number(ratios[0])}, last {number(ratios[-1])}"
        return Finding(ratios[-1] >= by * ratios[0], seen)

    return Claim(says, test, why)


def between(name: str, says: str, *, least: float, most: float, where: Where = everywhere, why: str = "") -> Claim:
    """All numbers of a series lie in a range."""

    def test(series: Series) -> Finding:
        values = {x: y for x, y in series.get(name, {}).items() if where(x)}
        return Finding(_all(values, lambda y: least <= y <= most), f"{name}: {spread(values.values())}")

    return Claim(says, test, why)


def number(value: X) -> str:
    """A number as text, with two or three significant digits."""
    if isinstance(value, str):
        return value
    size = abs(value)
    if size >= 1_000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 0.1 else f"{value:.2g}"


def spread(values: Iterable[float]) -> str:
    """The range of the values as text."""
    found = sorted(values)
    if not found:
        return "not measured"
    low, high = number(found[0]), number(found[-1])
    return low if low == high else f"{low} to {high}"


def _ratios(series: Series, upper: str, lower: str, where: Where) -> dict[X, float]:
    above, under = series.get(upper, {}), series.get(lower, {})
    return {x: above[x] / under[x] for x in above if where(x) and under.get(x, 0) > 0}


def _all(found: dict[X, float], test: Callable[[float], bool]) -> bool:
    """Whether all pass the test; False if there are none, because no numbers prove nothing."""
    return bool(found) and all(map(test, found.values()))
