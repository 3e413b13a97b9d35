"""GhanemEtAl2007: operators learn the time from their input (ITA), from negative tuples (NTA) or from messages."""

from thalweg_benchmarks.papers.experiment import Experiment
from thalweg_benchmarks.papers.ghanem_2007.delay import FIGURE_7B, FIGURE_7C
from thalweg_benchmarks.papers.ghanem_2007.join_message import FIGURE_8A, FIGURE_8B
from thalweg_benchmarks.papers.ghanem_2007.loaded import FIGURE_9A, FIGURE_9B, FIGURE_10

EXPERIMENTS: tuple[Experiment, ...] = (
    FIGURE_7B, FIGURE_7C, FIGURE_8A, FIGURE_8B, FIGURE_9A, FIGURE_9B, FIGURE_10,
)  # fmt: skip
