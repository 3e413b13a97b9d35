"""Answers and changes as DataFrames, computed from the rows with intervals that a query has emitted."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from thalweg.core.time import Clock, Instant
from thalweg.runtime.spark.tasks.answer_rows import EXP, SIGN, TS


def answer_at(output: DataFrame, t: Instant, clock: Clock) -> DataFrame:
    """The answer at `t`: each row as often as it is in."""
    at, names = _time(t, clock), _columns(output)
    alive = (sf.col(TS).isNull() | (sf.col(TS) <= at)) & (sf.col(EXP).isNull() | (sf.col(EXP) > at))
    counted = output.where(alive).groupBy(*names).agg(sf.sum(SIGN).alias(SIGN)).where(sf.col(SIGN) > 0)
    return counted.select(*names, sf.explode(sf.sequence(sf.lit(1), sf.col(SIGN))).alias(SIGN)).select(*names)


def changes_until(output: DataFrame, now: Instant, clock: Clock) -> DataFrame:
    """The rows that enter (+1) and leave (-1) the answer up to `now`, net at each instant: `_t`, `_sign`, columns."""
    names = _columns(output)
    gained = output.select(sf.col(TS).alias("_t"), sf.col(SIGN).cast("long").alias(SIGN), *names)
    ended = output.where(sf.col(EXP) <= _time(now, clock))
    lost = ended.select(sf.col(EXP).alias("_t"), (-sf.col(SIGN)).cast("long").alias(SIGN), *names)
    net = gained.union(lost).groupBy("_t", *names).agg(sf.sum(SIGN).alias(SIGN))
    return net.where(sf.col(SIGN) != 0).select("_t", SIGN, *names)


def _columns(output: DataFrame) -> list[Column]:
    return [sf.col(f"`{name}`") for name in output.columns if name not in (TS, EXP, SIGN)]


def _time(t: Instant, clock: Clock) -> Any:
    return sf.timestamp_micros(sf.lit(t)) if clock is Clock.TIMESTAMPS else sf.lit(t)
