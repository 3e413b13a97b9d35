"""JSON lines from a socket, for trying things out.

A socket cannot go back: Spark keeps what it has received in memory only, so rows that a failed micro-batch had taken
are gone after a restart. Use it where that does not matter, and a directory or a message queue where it does.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from thalweg.core.schema import Schema
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources.aside import ASIDE, TEXT, whole_rows


def socket(spark: SparkSession, host: str, port: int, schema: Schema) -> DataFrame:
    """An object a line with the columns of `schema`, and ASIDE; an absent name is NULL, empty lines are no rows."""
    lines = spark.readStream.format("socket").option("host", host).option("port", port).load()
    whole = to_spark(schema + ASIDE)
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": TEXT, "timeZone": "UTC"}
    parsed = lines.where(F.trim("value") != "").select(F.from_json("value", whole, options).alias("row"))
    return parsed.select(*whole_rows(schema, F.col("row").getField, F.lit("this does not fit the schema")))
