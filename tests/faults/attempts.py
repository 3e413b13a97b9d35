"""Attempts at a step in simulated processes: one can die, find the disk full, or fall asleep at any change of a file.

A process is what it remembers between batches. An attempt that falls asleep is a thread that waits until it is woken;
only one thread runs at a time, so that a history can be repeated exactly.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from faults.disk import watch
from thalweg.runtime.distributed.worker import step as memory

Failure = Callable[[], BaseException]


class Process:
    """A worker's process: the programs that rest in it."""

    def __init__(self) -> None:
        self._resting: dict[memory.ShardId, memory._Resting] = {}

    def enter(self) -> None:
        """What runs from now on runs here."""
        memory._resting = self._resting

    def die(self) -> None:
        """It is followed by another one, which remembers nothing."""
        self._resting = {}


class Gate:
    """All changes of files pass here: each thread may have a guard that stops it at one of them."""

    def __init__(self) -> None:
        self._guards = threading.local()

    def step(self) -> None:
        """Something is about to be changed."""
        guard = getattr(self._guards, "guard", None)
        if guard is not None:
            guard()

    def sync(self, handle: int) -> None:
        """Nothing is brought to disk in a simulation."""

    @contextmanager
    def guarded(self, guard: Callable[[], None]) -> Iterator[None]:
        """While this lasts, `guard` is called before each change that this thread makes."""
        self._guards.guard = guard
        try:
            yield
        finally:
            self._guards.guard = None


GATE = Gate()


@contextmanager
def simulated_disk() -> Iterator[None]:
    """While this lasts, changes of files pass the gate, and nothing waits for a disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        watch(patch, GATE)
        before = memory._resting
        try:
            yield
        finally:
            memory._resting = before


@contextmanager
def failing_at(number: int, failure: Failure, from_then_on: bool = False) -> Iterator[None]:
    """The given change of a file fails, and perhaps all after it."""
    count = 0

    def guard() -> None:
        nonlocal count
        count += 1
        if count == number or (from_then_on and count > number):
            raise failure()

    with GATE.guarded(guard):
        yield


class Sleeper:
    """An attempt in a process of its own that falls asleep at a change of a file, unless it is done before."""

    def __init__(self, work: Callable[[], Any], number: int, process: Process) -> None:
        self._work, self._number, self._process = work, number, process
        self._asleep, self._woken = threading.Event(), threading.Event()
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._process.enter()
        self._thread.start()
        self._asleep.wait()

    def _run(self) -> None:
        count = 0

        def guard() -> None:
            nonlocal count
            count += 1
            if count == self._number:
                self._asleep.set()
                self._woken.wait()

        try:
            with GATE.guarded(guard):
                self._work()
        except BaseException as error:  # the history judges it
            self.error = error
        finally:
            self._asleep.set()

    def wake(self) -> BaseException | None:
        """Let it go on to its end; the error that ended it, if one did."""
        self._process.enter()
        self._woken.set()
        self._thread.join()
        return self.error
