"""Would catch a clock that runs ahead of an input, waits for one that is silent, or goes back."""

from __future__ import annotations

from thalweg.core.time import BEGINNING, FOREVER, SECOND
from thalweg.runtime.distributed.ingest.clock import InputTime, QueryClock


def test_the_clock_is_the_slowest_input_less_its_lateness() -> None:
    clock = QueryClock({"a": InputTime(2), "b": InputTime(0)}, stamped=False)
    assert clock.see({"a": 10}, 0) == BEGINNING  # nothing is known of b
    assert clock.see({"b": 5}, 0) == 5
    assert clock.see({"b": 50}, 0) == 8
    assert clock.see({"a": 3}, 0) == 8
    assert clock.advance(6) == 8
    assert clock.drain() == 50


def test_a_silent_input_keeps_nobody_waiting() -> None:
    clock = QueryClock({"a": InputTime(0), "b": InputTime(0, idle=10)}, stamped=False)
    assert clock.see({"a": 10, "b": 1}, 100) == 1
    assert clock.see({"a": 20}, 110) == 1
    assert clock.see({"a": 30}, 111) == 30
    never_heard = QueryClock({"a": InputTime(0), "b": InputTime(0, idle=10)}, stamped=False)
    assert never_heard.see({"a": 10}, 100) == BEGINNING
    assert never_heard.see({"a": 11}, 111) == 11


def test_a_silent_input_with_timestamps_follows_the_systems_clock() -> None:
    clock = QueryClock({"a": InputTime(SECOND, idle=5 * SECOND)}, stamped=True)
    assert clock.see({"a": 100 * SECOND}, 1_000 * SECOND) == 99 * SECOND
    assert clock.see({}, 1_004 * SECOND) == 99 * SECOND
    assert clock.see({}, 1_006 * SECOND) == 105 * SECOND


def test_if_all_inputs_are_silent_time_does_not_run_out() -> None:
    clock = QueryClock({"a": InputTime(0, idle=10), "b": InputTime(0, idle=10)}, stamped=False)
    clock.see({"a": 10, "b": 12}, 100)
    assert clock.see({}, 200) == 10 < FOREVER
    assert clock.advance(15) == 15
