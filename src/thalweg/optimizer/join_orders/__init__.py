"""Orders of multi-way joins: their costs, and the search for a cheap one (GolabOzsu2003 §4 and 5)."""

from thalweg.optimizer.join_orders.choose import Algorithm, Method, choose_orders
from thalweg.optimizer.join_orders.cost import CostModel, bucket_sizes
from thalweg.optimizer.join_orders.search import best_global_order, best_local_order, heuristic_order

__all__ = [
    "Algorithm", "CostModel", "Method", "best_global_order", "best_local_order", "bucket_sizes", "choose_orders",
    "heuristic_order",
]  # fmt: skip
