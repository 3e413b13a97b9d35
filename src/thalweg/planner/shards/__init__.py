"""How a pipeline is cut into stages whose shards work side by side."""

from thalweg.planner.shards.cut import cut
from thalweg.planner.shards.keys import EVERYWHERE, Placement
from thalweg.planner.shards.stages import Cut, Port, Stage

__all__ = ["EVERYWHERE", "Cut", "Placement", "Port", "Stage", "cut"]
