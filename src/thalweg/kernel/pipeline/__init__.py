"""From logical plans to pipelines of columnar operators."""

from thalweg.kernel.pipeline.lower import build
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.kernel.pipeline.settings import Settings
from thalweg.kernel.pipeline.strategy import Strategy

__all__ = ["Pipeline", "Settings", "Strategy", "build"]
