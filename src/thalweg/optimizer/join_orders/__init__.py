"""Orders for multi-way joins: what an order costs, and how a cheap one is found (GolabOzsu2003 §4 and 5)."""

from thalweg.optimizer.join_orders.buckets import bucket_sizes
from thalweg.optimizer.join_orders.choose import Algorithm, Method, choose_orders
from thalweg.optimizer.join_orders.cost import CostModel
from thalweg.optimizer.join_orders.search import best_global_order, best_local_order, heuristic_order

__all__ = [
    "Algorithm", "CostModel", "Method", "best_global_order", "best_local_order", "bucket_sizes", "choose_orders",
    "heuristic_order",
]  # fmt: skip
