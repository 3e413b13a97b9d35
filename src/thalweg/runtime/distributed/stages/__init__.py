"""How a pipeline is cut into stages whose shards work side by side."""

from thalweg.runtime.distributed.stages.cut import cut, needs_all_tuples
from thalweg.runtime.distributed.stages.keys import EVERYWHERE, Placement
from thalweg.runtime.distributed.stages.stages import Cut, Port, Stage

__all__ = ["EVERYWHERE", "Cut", "Placement", "Port", "Stage", "cut", "needs_all_tuples"]
