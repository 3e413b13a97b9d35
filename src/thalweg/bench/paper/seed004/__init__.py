"""The experiments of GolabOzsu2003: multi-way joins of windows, their orders, nested loops and hash tables."""

from thalweg.bench.paper.experiment import Experiment
from thalweg.bench.paper.seed004.algorithms import FIGURE_2, FIGURE_3A, FIGURE_3B
from thalweg.bench.paper.seed004.indexes import FIGURE_4B, FIGURE_4B_RUN
from thalweg.bench.paper.seed004.intervals import FIGURE_4A
from thalweg.bench.paper.seed004.orders import TABLE_5, TABLE_6, TABLE_7
from thalweg.bench.paper.seed004.rates import TABLE_8

EXPERIMENTS: tuple[Experiment, ...] = (
    FIGURE_2, FIGURE_3A, FIGURE_3B, TABLE_5, TABLE_6, TABLE_7, TABLE_8, FIGURE_4A, FIGURE_4B,
    FIGURE_4B_RUN,
)  # fmt: skip
