"""GolabOzsu2003: multi-way joins of windows: orders, nested loops and hash tables."""

from thalweg_benchmarks.papers.experiment import Experiment
from thalweg_benchmarks.papers.golab_ozsu_2003.algorithms import FIGURE_2, FIGURE_3A, FIGURE_3B
from thalweg_benchmarks.papers.golab_ozsu_2003.indexes import FIGURE_4B, FIGURE_4B_RUN
from thalweg_benchmarks.papers.golab_ozsu_2003.intervals import FIGURE_4A
from thalweg_benchmarks.papers.golab_ozsu_2003.orders import TABLE_5, TABLE_6, TABLE_7
from thalweg_benchmarks.papers.golab_ozsu_2003.rates import TABLE_8

EXPERIMENTS: tuple[Experiment, ...] = (
    FIGURE_2, FIGURE_3A, FIGURE_3B, TABLE_5, TABLE_6, TABLE_7, TABLE_8, FIGURE_4A, FIGURE_4B,
    FIGURE_4B_RUN,
)  # fmt: skip
