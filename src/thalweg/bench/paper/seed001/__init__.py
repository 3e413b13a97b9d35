"""The experiments of GhanemEtAl2007: how operators learn the time: from input, negative tuples or messages."""

from thalweg.bench.paper.experiment import Experiment
from thalweg.bench.paper.seed001.delay import FIGURE_7B, FIGURE_7C
from thalweg.bench.paper.seed001.join_message import FIGURE_8A, FIGURE_8B
from thalweg.bench.paper.seed001.loaded import FIGURE_9A, FIGURE_9B, FIGURE_10

EXPERIMENTS: tuple[Experiment, ...] = (
    FIGURE_7B, FIGURE_7C, FIGURE_8A, FIGURE_8B, FIGURE_9A, FIGURE_9B, FIGURE_10,
)  # fmt: skip
