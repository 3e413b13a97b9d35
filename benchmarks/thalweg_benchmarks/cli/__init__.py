"""The commands under `thalweg bench`."""

from thalweg_benchmarks.cli.bench import bench

__all__ = ["bench"]
