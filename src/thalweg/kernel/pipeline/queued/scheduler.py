"""Schedulers: which operator runs next (N6)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from time import perf_counter

from thalweg.kernel.pipeline.queued.station import Station
from thalweg.kernel.state.snapshot import Stateful


class Scheduler(Stateful, ABC):
    """Chooses among stations, which are given in the order of the plan, inputs before consumers."""

    @abstractmethod
    def run(self, stations: Sequence[Station]) -> bool:
        """Run one or more stations; return False if none could run."""


class Fifo(Scheduler, kind="fifo-scheduler/1"):
    """An item passes through the whole pipeline before the next one enters: the highest station that can run runs."""

    def run(self, stations: Sequence[Station]) -> bool:
        """Run one item through one station."""
        for station in reversed(stations):
            if station.ready():
                station.run()
                return True
        return False


class RoundRobin(Scheduler, kind="round-robin-scheduler/1"):
    """Each station in turn runs until its time slot is over or its queues are empty.

    The slot is in seconds of `timer`; a timer that counts its calls makes it a number of items, the same on every
    machine.
    """

    KEPT = ("_next_station",)

    def __init__(self, slot: float = 0.01, timer: Callable[[], float] = perf_counter) -> None:
        self._slot, self._timer = slot, timer
        self._next_station = 0

    def run(self, stations: Sequence[Station]) -> bool:
        """Run one slot of the next station that can run."""
        for _ in stations:
            station = stations[self._next_station % len(stations)]
            self._next_station += 1
            if station.ready():
                over = self._timer() + self._slot
                station.run()
                while self._timer() < over and station.ready():
                    station.run()
                return True
        return False
