"""The papers' experiments, run here: `thalweg bench paper`."""

from thalweg_benchmarks.papers.experiment import Experiment, Measured, Scale
from thalweg_benchmarks.papers.outcome import Outcome, conduct, keep, kept
from thalweg_benchmarks.papers.registry import EXPERIMENTS, PAPERS, chosen

__all__ = ["EXPERIMENTS", "PAPERS", "Experiment", "Measured", "Outcome", "Scale", "chosen", "conduct", "keep", "kept"]
