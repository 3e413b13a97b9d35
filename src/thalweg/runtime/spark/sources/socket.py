"""JSON lines from a socket, for experiments.

A socket cannot send its rows again, and Spark keeps them in memory only: rows of a micro-batch that failed are lost
after a restart. Use a directory or a message queue where that matters.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from thalweg.core.schema import Schema
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources.bad_rows import BAD_ROW_COLUMNS, BAD_ROW_TEXT, whole_rows


def socket(spark: SparkSession, host: str, port: int, schema: Schema) -> DataFrame:
    """The columns of `schema`, and BAD_ROW_COLUMNS, from one JSON object per line.

    A name that is absent reads as NULL; empty lines are skipped.
    """
    lines = spark.readStream.format("socket").option("host", host).option("port", port).load()
    whole = to_spark(schema + BAD_ROW_COLUMNS)
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BAD_ROW_TEXT, "timeZone": "UTC"}
    parsed = lines.where(F.trim("value") != "").select(F.from_json("value", whole, options).alias("row"))
    return parsed.select(*whole_rows(schema, F.col("row").getField, F.lit("this does not fit the schema")))
