"""Python's processes under Spark: what makes the next task start at once."""

from __future__ import annotations

import gc

_FIRST_TASKS = 3  # by then a process has imported what its tasks need
_tasks = 0


def spare_the_collector() -> None:
    """Put all that is there into the shade of Python's garbage collector, in the first tasks of a process.

    Between two tasks Spark's workers go through all objects for garbage, a task waits meanwhile, and nearly all of them
    are modules that stay for good: tens of milliseconds, several times what a small task itself takes.
    """
    global _tasks
    if _tasks < _FIRST_TASKS:
        _tasks += 1
        gc.collect()
        gc.freeze()
