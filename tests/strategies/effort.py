"""How hard the tests try: one profile for all property tests, chosen by THALWEG_PROFILE.

A property test names a number of examples, or leaves it to the profile (100 in `default`).

- `fast` draws a tenth of them, and leaves out what is marked `slow` (`make check`);
- `default` draws all of them (`make test`);
- `nightly` draws ten times as many, and runs every scenario in every setting (`make test-all`).

THALWEG_EXAMPLES=5000 draws so many in each property test, whatever it names (`make fuzz`). No profile has deadlines, as
machines are shared, or a database of examples, as a failure prints the blob that repeats it. CI, where a change must
not fail by bad luck, draws the same examples each time, except at night.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("THALWEG_PROFILE", "default")
FAST, NIGHTLY = PROFILE == "fast", PROFILE == "nightly"

for _name, _unless_named in (("fast", 10), ("default", 100), ("nightly", 1_000)):
    settings.register_profile(
        _name,
        max_examples=_unless_named,
        deadline=None,
        database=None,
        print_blob=True,
        derandomize=bool(os.environ.get("CI")) and _name != "nightly",
    )
settings.load_profile(PROFILE)


def examples(named: int) -> settings:
    """Settings of a property test; it may draw slowly."""
    return exactly(rounds(named))


def exactly(number: int) -> settings:
    """Settings of a test that must draw `number` examples in every profile, to meet all that it looks for."""
    return settings(max_examples=number, suppress_health_check=list(HealthCheck))


def rounds(named: int) -> int:
    """How many examples to draw in this run where a test names a number."""
    asked = os.environ.get("THALWEG_EXAMPLES")
    if asked:
        return int(asked)
    if FAST:
        return -(-named // 10)
    return 10 * named if NIGHTLY else named
