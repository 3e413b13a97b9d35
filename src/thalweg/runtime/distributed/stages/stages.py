"""What a pipeline is cut into: stages, the ports between them, and places in these."""

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
    """A way into a stage: what a source or an operator of an earlier stage gives, spread over shards by `key`.

    Only sources and parts of aggregates are copied EVERYWHERE; what is computed of copies alone is computed in every
    group, in the very stage that wants it: a group that has been sent nothing yet has nothing to hand on.

    The stages in between, if there are any, hand it on as it is.
    """

    stage: int
    node: int  # of the pipeline
    key: Placement
    origin: Place | None  # None: a source


@dataclass(frozen=True)
class Step:
    """An operator of the pipeline at work in a stage."""

    node: int
    inputs: tuple[Place, ...]
    alone: bool = False  # it must see all, and is there in one shard only
    everywhere: bool = False  # it works on copies alone, in every group alike


@dataclass
class Stage:
    """What runs between two exchanges. A pipeline's operator may run in several stages, or twice in one."""

    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class Cut:
    """Stages in the order in which they run, the ports between them, and where the answer comes out."""

    stages: tuple[Stage, ...]
    ports: tuple[Port, ...]
    answer: Place
