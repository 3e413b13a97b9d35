"""From logical plans to pipelines of columnar operators."""

from thalweg.planner.lower import Strategy, build
from thalweg.planner.pipeline import Pipeline

__all__ = ["Pipeline", "Strategy", "build"]
