"""Operators connected by queues, each with its own clock: the execution model of GhanemEtAl2007."""

from thalweg.kernel.pipeline.queued.network import Network
from thalweg.kernel.pipeline.queued.scheduler import Fifo, RoundRobin, Scheduler

__all__ = ["Fifo", "Network", "RoundRobin", "Scheduler"]
