"""The parts of a cut pipeline: stages, the ports between them, and places in these."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from thalweg.runtime.distributed.stages.keys import Placement


class Place(NamedTuple):
    """Where an output is produced: an operator of a stage, or a port through which it comes in."""

    stage: int
    at: int  # an index into the stage's `steps`, or into all ports if `is_port`
    is_port: bool


@dataclass(frozen=True)
class Port:
    """An input of a stage: the output of a source, or of an operator of an earlier stage, partitioned by `key`.

    Only sources and partial aggregates are BROADCAST. An operator whose inputs are all broadcast runs in every group of
    the stage that needs its output: a group that has got no message yet could not send it on.

    Stages in between, if there are any, pass it on as it is.
    """

    stage: int
    node: int  # of the pipeline
    key: Placement
    origin: Place | None  # None: a source


@dataclass(frozen=True)
class PlacedNode:
    """An operator of the pipeline that runs in a stage."""

    node: int
    inputs: tuple[Place, ...]
    alone: bool = False  # it must see all tuples, and runs in group 0 only
    broadcast: bool = False  # all its inputs are broadcast: it does the same in every group


@dataclass
class Stage:
    """The operators between two exchanges. An operator of the pipeline may run in several stages, or twice in one."""

    steps: list[PlacedNode] = field(default_factory=list)


@dataclass(frozen=True)
class Cut:
    """Stages in the order in which they run, the ports between them, and where the answer comes out."""

    stages: tuple[Stage, ...]
    ports: tuple[Port, ...]
    answer: Place

    @property
    def count(self) -> int:
        """The number of stages that run. A query that only reads has no operators to cut, but one stage."""
        return max(1, len(self.stages))
