"""`thalweg bench paper`: the experiments of five papers, a folder for each, and our own on scaling."""

from thalweg_benchmarks.papers.experiment import Experiment, FigureData, Scale
from thalweg_benchmarks.papers.outcome import ExperimentOutcome, conduct, keep, kept
from thalweg_benchmarks.papers.registry import EXPERIMENTS, PAPERS, chosen

__all__ = [
    "EXPERIMENTS",
    "PAPERS",
    "Experiment",
    "FigureData",
    "ExperimentOutcome",
    "Scale",
    "chosen",
    "conduct",
    "keep",
    "kept",
]
