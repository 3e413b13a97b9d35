"""`thalweg bench`: the commands of the package `thalweg-benchmarks`, imported only when one of them is called."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from thalweg.core.errors import ThalwegError

PACKAGE = "thalweg_benchmarks"


class Benchmarks(click.Command):
    """A placeholder in the list of commands; a call imports the real group, which need not be installed."""

    def __init__(self, package: str = PACKAGE, import_: Callable[[str], Any] = import_module) -> None:
        super().__init__(
            "bench",
            short_help="Run benchmarks: ratios against yardsticks, the papers' experiments, other systems.",
            add_help_option=False,
        )
        self._package, self._import = package, import_

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the real group."""
        return self._group().make_context(info_name, args, parent, **extra)

    def _group(self) -> click.Group:
        try:
            found = self._import(f"{self._package}.cli")
        except ModuleNotFoundError as error:
            if error.name != self._package:
                raise  # the package is here, but something that it needs is not
            raise ThalwegError(
                "the benchmarks are a package of their own, thalweg-benchmarks, which is not installed here",
                hint="in a clone of Thalweg's repository: pip install -e benchmarks (make setup does it, too)",
            ) from None
        group: click.Group = found.bench
        return group


bench = Benchmarks()
