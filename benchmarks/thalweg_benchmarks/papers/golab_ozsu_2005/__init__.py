"""GolabOzsu2005: five queries over connections with the negative tuple, direct and update-pattern-aware approaches."""

from thalweg_benchmarks.papers.experiment import Experiment
from thalweg_benchmarks.papers.golab_ozsu_2005.distinct import FIGURE_11, FIGURE_12, FIGURE_13, FIGURE_14, FIGURE_16
from thalweg_benchmarks.papers.golab_ozsu_2005.join import FIGURE_9, FIGURE_10
from thalweg_benchmarks.papers.golab_ozsu_2005.negation import FIGURE_15, FIGURE_17

EXPERIMENTS: tuple[Experiment, ...] = (
    FIGURE_9, FIGURE_10, FIGURE_11, FIGURE_12, FIGURE_13, FIGURE_14, FIGURE_15, FIGURE_16, FIGURE_17,
)  # fmt: skip
