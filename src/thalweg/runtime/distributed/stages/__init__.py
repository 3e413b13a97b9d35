"""A pipeline cut into stages, each of which runs in shards side by side."""

from thalweg.runtime.distributed.stages.cut import cut, needs_all_tuples
from thalweg.runtime.distributed.stages.keys import BROADCAST, Placement
from thalweg.runtime.distributed.stages.stages import Cut, Port, Stage

__all__ = ["BROADCAST", "Cut", "Placement", "Port", "Stage", "cut", "needs_all_tuples"]
