"""MaddenEtAl2002: many queries in one eddy."""

from thalweg_benchmarks.papers.experiment import Experiment
from thalweg_benchmarks.papers.madden_2002.niagara import FIGURE_11A, FIGURE_11B
from thalweg_benchmarks.papers.madden_2002.routing import FIGURE_8, FIGURE_9A, FIGURE_9B, FIGURE_9C
from thalweg_benchmarks.papers.madden_2002.sharing import FIGURE_4, FIGURE_6A, FIGURE_6B
from thalweg_benchmarks.papers.madden_2002.storage import TABLE_1

EXPERIMENTS: tuple[Experiment, ...] = (
    TABLE_1, FIGURE_4, FIGURE_6A, FIGURE_6B, FIGURE_8, FIGURE_9A, FIGURE_9B, FIGURE_9C, FIGURE_11A, FIGURE_11B,
)  # fmt: skip
