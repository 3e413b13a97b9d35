"""How Thalweg scales: with the window, the result, the number of queries and of shards. No paper's figures."""

from thalweg.bench.paper.experiment import Experiment
from thalweg.bench.paper.scaling.queries import BY_QUERIES
from thalweg.bench.paper.scaling.results import BY_GROUPS, BY_PARTNERS
from thalweg.bench.paper.scaling.shards import BY_SHARDS
from thalweg.bench.paper.scaling.windows import BY_WINDOW

EXPERIMENTS: tuple[Experiment, ...] = (BY_WINDOW, BY_GROUPS, BY_PARTNERS, BY_QUERIES, BY_SHARDS)
