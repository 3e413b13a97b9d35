"""Would catch an example in a docstring that has gone stale, and a module that cannot be imported."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import thalweg_benchmarks

MODULES = sorted(m.name for m in pkgutil.walk_packages(thalweg_benchmarks.__path__, "thalweg_benchmarks."))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
