"""Results of users' functions as stored values."""

from __future__ import annotations

import importlib
import math
from functools import reduce
from typing import Any

import numpy as np

from thalweg.core.errors import DataError
from thalweg.core.python_values import from_python
from thalweg.core.rows import Value
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType


class WrongResultError(Exception):
    """A result has another type than the declared one."""


def read_result(returns: DataType, result: Any) -> Value:
    """The result as a stored value; None, NaN, and an integer that does not fit, are NULL."""
    if isinstance(result, np.datetime64 | np.timedelta64):
        result = result.astype("datetime64[us]" if result.dtype.kind == "M" else "timedelta64[us]")
    plain = result.item() if isinstance(result, np.generic) else result
    if plain is None or (isinstance(plain, float) and math.isnan(plain)):
        return None
    try:
        read = from_python(returns, plain)
    except OverflowError:
        return None
    except DataError:  # a text that is no timestamp
        read = None
    number = plain if read is None else read
    if isinstance(number, int) and not INT64_MIN <= number <= INT64_MAX:
        return None
    if read is None:
        raise WrongResultError
    return read


def find_definition(module: str, qualname: str) -> Any:
    """The object of a name, as pickle would find it; None if there is none."""
    try:
        return reduce(getattr, qualname.split("."), importlib.import_module(module))
    except (ImportError, AttributeError):
        return None
