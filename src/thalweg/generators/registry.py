"""The generators by name, with their options checked before anything runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from thalweg.core.errors import DataError, NameNotFoundError, did_you_mean
from thalweg.core.schema import Schema
from thalweg.generators import nexmark, stocks
from thalweg.generators.connections import SCHEMA as CONNECTION
from thalweg.generators.connections import connections
from thalweg.generators.sensors import SCHEMA as READING
from thalweg.generators.sensors import sensors

Make = Callable[..., pa.Table]


@dataclass(frozen=True)
class Generator:
    """A generated stream: `table(i, n)` returns n rows from row i on, always the same."""

    name: str
    schema: Schema
    options: Mapping[str, Any]
    rows_per_second: float
    _make: Make

    def table(self, first_row: int, rows: int) -> pa.Table:
        """`rows` rows from `first_row` on."""
        return self._make(first_row=first_row, rows=rows, **self.options)


@dataclass(frozen=True)
class _Kind:
    make: Make
    schema: Schema
    share: Callable[[Mapping[str, Any]], float] = lambda options: 1.0  # rows of this stream per unit of `rate`


_KINDS: dict[str, _Kind] = {
    "connections": _Kind(connections, CONNECTION),
    "sensors": _Kind(sensors, READING),
    "nexmark_person": _Kind(nexmark.persons, nexmark.PERSON, lambda options: nexmark.PERSONS / nexmark.EVENTS),
    "nexmark_auction": _Kind(nexmark.auctions, nexmark.AUCTION, lambda options: nexmark.AUCTIONS / nexmark.EVENTS),
    "nexmark_bid": _Kind(nexmark.bids, nexmark.BID, lambda options: nexmark.BIDS / nexmark.EVENTS),
    "quotes": _Kind(stocks.quotes, stocks.QUOTE),
    "articles": _Kind(stocks.articles, stocks.ARTICLE, lambda options: options["articles_per_quote"]),
}
_MAY_BE_ZERO = {"seed", "start", "skew", "hot", "missing"}


def names() -> tuple[str, ...]:
    """The names of all generators."""
    return tuple(_KINDS)


def make(name: str, **options: Any) -> Generator:
    """The generator called `name`; by default `seed` is 0, and its function has the other defaults.

    >>> make("sensors", seed=1, rate=2).table(first_row=10, rows=3).column("sensor").to_pylist()
    [86, 37, 35]
    """
    kind = _KINDS.get(name)
    if kind is None:
        raise NameNotFoundError(f"there is no generator {name}", candidates=_KINDS, hint=did_you_mean(name, _KINDS))
    defaults: dict[str, Any] = {"seed": 0, **_defaults(kind.make)}
    for option, value in options.items():
        _check(name, option, value, defaults)
    chosen = {**defaults, **options}
    return Generator(name, kind.schema, chosen, chosen["rate"] * kind.share(chosen), kind.make)


def _defaults(function: Make) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _check(name: str, option: str, value: Any, defaults: Mapping[str, Any]) -> None:
    if option not in defaults:
        raise NameNotFoundError(
            f"the generator {name} has no option {option}", candidates=defaults, hint=did_you_mean(option, defaults)
        )
    wanted: tuple[type, ...] = (int,) if isinstance(defaults[option], int) else (int, float)
    least = "0 or more" if option in _MAY_BE_ZERO else "more than 0"
    fits = isinstance(value, wanted) and not isinstance(value, bool)
    if not fits or value < 0 or (value == 0 and option not in _MAY_BE_ZERO):
        kind = "an integer" if wanted == (int,) else "a number"
        raise DataError(f"option {option} of the generator {name} wants {kind}, {least}; got {value!r}")
