"""Flows on Spark: one streaming query serves all queries of a flow, which come and go while it runs."""

from thalweg.runtime.spark.flow.flow import SparkFlow
from thalweg.runtime.spark.flow.run import FlowRun

__all__ = ["FlowRun", "SparkFlow"]
