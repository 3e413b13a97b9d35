"""Readings of sensors: temperature and humidity, from the time of day, the sensor's place, and noise."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.time import DAY
from thalweg.core.types import DataType
from thalweg.generators.draws import Draws, Reals
from thalweg.generators.tables import START, arrivals, row_numbers, tabulate

SCHEMA = Schema.of(ts=DataType.TIMESTAMP, sensor=DataType.BIGINT, temperature=DataType.DOUBLE, humidity=DataType.DOUBLE)

_MEAN, _DAILY_SWING, _PLACE, _NOISE = 18.0, 7.0, 3.0, 0.4


def sensors(
    seed: int,
    first_row: int,
    rows: int,
    rate: float = 1_000.0,
    *,
    start: int = START,
    sensors: int = 100,
    skew: float = 0.0,
    missing: float = 0.01,
) -> pa.Table:
    """`rows` readings from row `first_row` on.

    `skew` is the Zipf exponent of the sensors (0: all equally frequent); `missing` is the share of NULL humidities.
    """
    draws = Draws(seed, row_numbers(first_row, rows))
    ts, sensor = arrivals(draws, rate, start), draws.zipf("sensor", sensors, skew)
    temperature = _temperature(draws, ts, sensor)
    humidity = np.clip(95.0 - 2.0 * temperature + 4.0 * draws.normal("humidity"), 0.0, 100.0)
    unknown = draws.uniform("missing") < missing
    return tabulate(SCHEMA, (ts, sensor, np.round(temperature, 2), pa.array(np.round(humidity, 1), mask=unknown)))


def _temperature(draws: Draws, ts: Ints, sensor: Ints) -> Reals:
    """Temperatures: highest at 15:00, and higher or lower by the sensor's place."""
    daily = _DAILY_SWING * np.cos(2.0 * np.pi * (ts / DAY - 15 / 24))
    place = _PLACE * draws.at(sensor).normal("place")
    return np.asarray(_MEAN + daily + place + _NOISE * draws.normal("temperature"))
