"""From logical plans to pipelines of columnar operators."""

from thalweg.planner.lower import build
from thalweg.planner.pipeline import Pipeline
from thalweg.planner.settings import Settings
from thalweg.planner.strategy import Strategy

__all__ = ["Pipeline", "Settings", "Strategy", "build"]
