"""Scenario files: CQL and timed rows, with the expected answer at each instant. Any engine can run them."""

from thalweg.scenarios.cells import ScenarioError
from thalweg.scenarios.events import Advance, Arrive, Delete, Event, Insert, Update
from thalweg.scenarios.format import Scenario, parse_scenario
from thalweg.scenarios.local_engine import LocalEngine
from thalweg.scenarios.rewrite import rewrite
from thalweg.scenarios.runner import Mismatch, ScenarioEngine, run_scenario

__all__ = [
    "Advance", "Arrive", "Delete", "ScenarioEngine", "Event", "Insert", "LocalEngine", "Mismatch", "Scenario",
    "ScenarioError", "Update", "parse_scenario", "rewrite", "run_scenario",
]  # fmt: skip
