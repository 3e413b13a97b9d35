"""The desk of a flow on Spark for processes that do not run it: no Spark is started."""

from __future__ import annotations

from pathlib import Path

from pyspark import cloudpickle

from thalweg.flows.pickles import pickle_with
from thalweg.runtime.distributed.checkpoint.flow_desk import FlowDesk


def desk_at(checkpoint: str | Path) -> FlowDesk:
    """Queries that are handed in there may call functions of users that no module has."""
    pickle_with(cloudpickle.dumps)
    return FlowDesk.at(checkpoint)
