"""`thalweg bench peers`: the same questions to Thalweg and to what people would use instead; rows first, then times."""

from thalweg_benchmarks.peers.run import run

__all__ = ["run"]
