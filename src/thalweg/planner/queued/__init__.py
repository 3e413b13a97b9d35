"""Operators joined by queues, each with a clock of its own: the execution model of seed 001."""

from thalweg.planner.queued.network import Network
from thalweg.planner.queued.scheduler import Fifo, RoundRobin, Scheduler

__all__ = ["Fifo", "Network", "RoundRobin", "Scheduler"]
