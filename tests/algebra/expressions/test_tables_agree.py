"""The tables that speak of scalar functions, casts and aggregates name the same ones.

Would catch: a function that types but has no kernel, no SQL or no reference, and one that nobody can call.
"""

from __future__ import annotations

from collections.abc import Collection

import pytest

from thalweg.algebra.expressions import AGGREGATES, build, render, vectorise
from thalweg.algebra.expressions.functions import FUNCTIONS
from thalweg.core.types import DataType
from thalweg.reference.aggregates import REDUCTIONS
from thalweg.reference.casts import SCALAR_CASTS
from thalweg.reference.scalars import SCALARS


@pytest.mark.parametrize("table", [vectorise.KERNELS, render.WRITERS, SCALARS], ids=["batch", "sql", "row"])
def test_functions(table: Collection[str]) -> None:
    assert set(table) == set(FUNCTIONS)


@pytest.mark.parametrize("table", [vectorise.CASTS, render.CASTS, SCALAR_CASTS], ids=["batch", "sql", "row"])
def test_casts(table: Collection[tuple[DataType, DataType]]) -> None:
    assert set(table) == build.CASTS


def test_aggregates() -> None:
    assert set(REDUCTIONS) == set(AGGREGATES)
