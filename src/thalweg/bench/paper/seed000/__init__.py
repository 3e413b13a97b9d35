"""The experiments of GolabOzsu2005: five queries over connections, in the negative tuple, direct and UPA approaches."""

from thalweg.bench.paper.experiment import Experiment
from thalweg.bench.paper.seed000.distinct import FIGURE_11, FIGURE_12, FIGURE_13, FIGURE_14, FIGURE_16
from thalweg.bench.paper.seed000.join import FIGURE_9, FIGURE_10
from thalweg.bench.paper.seed000.negation import FIGURE_15, FIGURE_17

EXPERIMENTS: tuple[Experiment, ...] = (
    FIGURE_9, FIGURE_10, FIGURE_11, FIGURE_12, FIGURE_13, FIGURE_14, FIGURE_15, FIGURE_16, FIGURE_17,
)  # fmt: skip
