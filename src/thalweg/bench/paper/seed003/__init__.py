"""The experiments of MaddenEtAl2002: many queries in one eddy."""

from thalweg.bench.paper.experiment import Experiment
from thalweg.bench.paper.seed003.niagara import FIGURE_11A, FIGURE_11B
from thalweg.bench.paper.seed003.routing import FIGURE_8, FIGURE_9A, FIGURE_9B, FIGURE_9C
from thalweg.bench.paper.seed003.sharing import FIGURE_4, FIGURE_6A, FIGURE_6B
from thalweg.bench.paper.seed003.storage import TABLE_1

EXPERIMENTS: tuple[Experiment, ...] = (
    TABLE_1, FIGURE_4, FIGURE_6A, FIGURE_6B, FIGURE_8, FIGURE_9A, FIGURE_9B, FIGURE_9C, FIGURE_11A, FIGURE_11B,
)  # fmt: skip
