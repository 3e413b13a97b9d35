"""The experiments of seed 001."""

from thalweg.bench.paper.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()
