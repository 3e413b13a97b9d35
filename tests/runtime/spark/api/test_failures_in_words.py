"""Would catch an error of ours that reaches the user with Spark's words around it."""

from __future__ import annotations

from thalweg.core.errors import CheckpointError
from thalweg.runtime.spark.api.failures import plain

ACCOUNT = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Job aborted due to stage failure:
  File "worker.py", line 1, in main
thalweg.core.errors.CheckpointError: the state after batch 4 is not there: manifest-4.json is missing
hint: a file of the checkpoint was deleted
 SQLSTATE: 39000 SQLSTATE: XXKST
\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:645)
"""


def test_an_error_of_a_task_is_reported_as_it_was_raised() -> None:
    error = plain(ACCOUNT)
    assert type(error) is CheckpointError
    assert str(error) == (
        "the state after batch 4 is not there: manifest-4.json is missing\nhint: a file of the checkpoint was deleted"
    )
