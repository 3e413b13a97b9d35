"""How a pipeline is cut into stages whose shards work side by side."""

from thalweg.planner.shards.cut import Cut, Port, Stage, cut
from thalweg.planner.shards.keys import EVERYWHERE, Placement

__all__ = ["EVERYWHERE", "Cut", "Placement", "Port", "Stage", "cut"]
