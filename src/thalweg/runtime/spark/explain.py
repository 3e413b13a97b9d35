"""EXPLAIN of how a query is spread: its stages, what runs in them, and by what their inputs are exchanged."""

from __future__ import annotations

from typing import Any

from thalweg.operators.base import Key
from thalweg.planner.pipeline import Pipeline
from thalweg.planner.shards import Cut


def explain_stages(pipeline: Pipeline, cut: Cut, shards: int) -> list[dict[str, Any]]:
    """One entry per stage, in order."""
    stages = []
    for number, stage in enumerate(cut.stages):
        ports = [port for port in cut.ports if port.stage == number]
        stages.append(
            {
                "stage": number,
                "shards": shards,
                "operators": [type(pipeline.nodes[step.node].operator).__name__ for step in stage.steps],
                "inputs": [
                    {"of": _origin(pipeline, port.node), "by": _by(port.key, port.origin is None)} for port in ports
                ],
            }
        )
    return stages


def _origin(pipeline: Pipeline, node: int) -> str:
    found = pipeline.nodes[node]
    return found.source if found.operator is None else type(found.operator).__name__


def _by(key: Key | None, source: bool) -> str:
    if key is None:
        return "equal shares" if source else "its shard"
    return ", ".join(map(str, key)) if key else "one shard"
