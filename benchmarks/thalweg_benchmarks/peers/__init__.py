"""`thalweg bench peers`: Thalweg and other systems run the same queries; their rows are compared, then timed."""

from thalweg_benchmarks.peers.run import run

__all__ = ["run"]
