"""`thalweg bench`: the commands of the package `thalweg-benchmarks`, imported only when one of them is called."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from thalweg.core.errors import ThalwegError

PACKAGE = "thalweg_benchmarks"


class _Benchmarks(click.Command):
    """A placeholder in the list of commands; a call imports the real group, which need not be installed."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        return _group().make_context(info_name, args, parent, **extra)


def _group() -> click.Group:
    try:
        found = import_module(f"{PACKAGE}.cli")
    except ModuleNotFoundError as error:
        if error.name != PACKAGE:
            raise  # the package is here, but something that it needs is not
        raise ThalwegError(
            "the benchmarks are a package of their own, thalweg-benchmarks, which is not installed here",
            hint="in a clone of Thalweg's repository: pip install -e benchmarks (make setup does it, too)",
        ) from None
    group: click.Group = found.bench
    return group


bench = _Benchmarks(
    "bench",
    short_help="Run benchmarks: ratios against yardsticks, the papers' experiments, other systems.",
    add_help_option=False,
)
