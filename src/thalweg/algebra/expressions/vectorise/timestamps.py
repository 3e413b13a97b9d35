"""Functions of timestamps on Arrow arrays."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions.functions import DATE_TRUNC_UNITS
from thalweg.algebra.expressions.vectorise.arithmetic import to_micros, to_timestamp
from thalweg.algebra.expressions.vectorise.casts import truncate
from thalweg.algebra.expressions.vectorise.datum import Datum, Kernel, elementwise, length_of
from thalweg.algebra.expressions.vectorise.mathematics import half_away
from thalweg.core.types import DataType


def _epoch(moment: Datum) -> Datum:
    return pc.divide(to_micros(moment).cast(pa.float64(), safe=False), 1e6)


def _from_epoch(seconds: Datum) -> Datum:
    return to_timestamp(truncate(elementwise(half_away, pc.multiply(seconds, 1e6))))


def _date_trunc(unit: Datum, moment: Datum) -> Datum:
    result = pa.nulls(length_of(unit, moment), DataType.TIMESTAMP.arrow)
    unit = pc.utf8_lower(unit)
    for name in DATE_TRUNC_UNITS:
        here = pc.equal(unit, name)
        if isinstance(here, pa.Array) or here.as_py():
            result = pc.if_else(pc.coalesce(here, False), pc.floor_temporal(moment, unit=name), result)
    return result


TIMESTAMPS: dict[str, Kernel] = {
    "year": pc.year,
    "month": pc.month,
    "day": pc.day,
    "dayofweek": lambda t: pc.day_of_week(t, week_start=7),
    "dayofyear": pc.day_of_year,
    "hour": pc.hour,
    "minute": pc.minute,
    "second": pc.second,
    "epoch": _epoch,
    "to_timestamp": _from_epoch,
    "date_trunc": _date_trunc,
}
