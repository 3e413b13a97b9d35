"""The papers' experiments, run here: `thalweg bench paper`."""

from thalweg.bench.paper.experiment import Experiment, Measured, Scale
from thalweg.bench.paper.outcome import Outcome, conduct, keep, kept
from thalweg.bench.paper.registry import EXPERIMENTS, PAPERS, chosen

__all__ = ["EXPERIMENTS", "PAPERS", "Experiment", "Measured", "Outcome", "Scale", "chosen", "conduct", "keep", "kept"]
