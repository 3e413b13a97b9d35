"""How Thalweg scales with the window, the result, the queries and the shards; experiments of our own."""

from thalweg_benchmarks.papers.experiment import Experiment
from thalweg_benchmarks.papers.scaling.queries import BY_QUERIES
from thalweg_benchmarks.papers.scaling.results import BY_GROUPS, BY_PARTNERS
from thalweg_benchmarks.papers.scaling.shards import BY_SHARDS
from thalweg_benchmarks.papers.scaling.windows import BY_WINDOW

EXPERIMENTS: tuple[Experiment, ...] = (BY_WINDOW, BY_GROUPS, BY_PARTNERS, BY_QUERIES, BY_SHARDS)
