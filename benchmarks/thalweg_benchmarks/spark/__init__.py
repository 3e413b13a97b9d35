"""`thalweg bench spark`: Thalweg on Spark and native Spark, same data, same cores, one run."""

from thalweg_benchmarks.spark.run import run

__all__ = ["run"]
