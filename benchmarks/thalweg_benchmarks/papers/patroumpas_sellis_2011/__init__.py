"""PatroumpasSellis2011: single operators over windows of every kind."""

from thalweg_benchmarks.papers.experiment import Experiment
from thalweg_benchmarks.papers.patroumpas_sellis_2011.count_windows import FIGURE_8, FIGURE_9, FIGURE_10
from thalweg_benchmarks.papers.patroumpas_sellis_2011.landmark import FIGURE_12, FIGURE_13
from thalweg_benchmarks.papers.patroumpas_sellis_2011.partitioned import FIGURE_11
from thalweg_benchmarks.papers.patroumpas_sellis_2011.time_windows import FIGURE_6, FIGURE_7

EXPERIMENTS: tuple[Experiment, ...] = (
    FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, FIGURE_10, FIGURE_11, FIGURE_12, FIGURE_13,
)  # fmt: skip
