"""How a pipeline is cut into stages whose shards work side by side."""

from thalweg.planner.shards.cut import Cut, Port, Stage, cut

__all__ = ["Cut", "Port", "Stage", "cut"]
