"""Python's processes under Spark: what makes the next task start at once, and run fast."""

from __future__ import annotations

import gc

import pyarrow as pa

from thalweg.core.memory import keep_freed

_FIRST_TASKS = 3  # by then a process has imported what its tasks need
_tasks = 0


def settle() -> None:
    """In the first tasks of a process, keep freed memory and spare Python's garbage collector all that is there.

    Between two tasks Spark's workers go through all objects for garbage, a task waits meanwhile, and nearly all of them
    are modules that stay for good: tens of milliseconds, several times what a small task itself takes. A task has one
    core, so Arrow gets one thread.
    """
    global _tasks
    if _tasks < _FIRST_TASKS:
        _tasks += 1
        keep_freed()
        pa.set_cpu_count(1)
        gc.collect()
        gc.freeze()
