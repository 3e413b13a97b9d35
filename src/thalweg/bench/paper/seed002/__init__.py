"""The experiments of seed 002."""

from thalweg.bench.paper.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()
