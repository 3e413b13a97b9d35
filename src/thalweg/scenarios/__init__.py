"""Scenario files: CQL and timed rows, with the answer expected at each instant."""
