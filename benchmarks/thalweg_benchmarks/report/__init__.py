"""The report: from the experiments' JSON lines to plots and pages."""

from thalweg_benchmarks.report.build import build

__all__ = ["build"]
