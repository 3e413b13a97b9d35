"""Would catch a stale example in a docstring, a module that cannot be imported, and a class name used twice."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from collections import Counter

import pytest

import thalweg_benchmarks

MODULES = sorted(m.name for m in pkgutil.walk_packages(thalweg_benchmarks.__path__, "thalweg_benchmarks."))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_no_public_class_name_is_used_twice() -> None:
    classes = {
        found
        for name in MODULES
        for _, found in inspect.getmembers(importlib.import_module(name), inspect.isclass)
        if found.__module__.startswith("thalweg_benchmarks") and not found.__name__.startswith("_")
    }
    counts = Counter(found.__name__ for found in classes)
    assert [name for name, count in counts.items() if count > 1] == []
