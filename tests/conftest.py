"""How Hypothesis runs: without deadlines (machines are shared), and in CI with the same examples each time.

`make fuzz` looks for new ones.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
