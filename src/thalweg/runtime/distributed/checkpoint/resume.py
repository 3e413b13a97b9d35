"""What a start checks before a query goes on from a checkpoint, and how it goes back by one batch.

The state after the last committed batch is read in every stage and shard. If a part of it is damaged or missing, and
the state after the batch before is whole, Spark's commit of the last batch is removed. Then Spark runs that batch
again, over the same rows, as after a crash; every sink replaces what it wrote for the batch.
"""

from __future__ import annotations

import warnings
from pathlib import Path

from thalweg.core.errors import CheckpointError, CheckpointWarning
from thalweg.runtime.distributed.checkpoint.control import check_commands
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.manifest import manifest_path
from thalweg.runtime.distributed.checkpoint.store import ShardStore


def resume(checkpoint: Checkpoint, stages: int) -> bool:
    """Check that a query of so many stages can go on; True if it goes back by one batch to do so.

    A CheckpointError names the file that is damaged or missing, if the query cannot go on.
    """
    check_commands(checkpoint.control)
    done = checkpoint.committed
    problem = None if done < 0 else state_problem(checkpoint, done, stages)
    if problem is None:
        return False
    obstacle = _obstacle(checkpoint, done, stages)
    if obstacle is not None:
        raise CheckpointError(
            f"{problem.message}; the query cannot go back to the batch before: {obstacle}", hint=problem.hint
        ) from problem
    _go_back(checkpoint, done, stages)
    warnings.warn(f"{problem.message}. Batch {done} is run again.", CheckpointWarning, stacklevel=2)
    return True


def state_problem(checkpoint: Checkpoint, batch: int, stages: int) -> CheckpointError | None:
    """What is wrong with the state after a batch; None if it is whole. Before the first batch there is no state."""
    if batch < 0:
        return None
    for stage in range(stages):
        for folder in checkpoint.shards(batch, stage):
            try:
                ShardStore(folder).load(batch)
            except CheckpointError as error:
                return error
    return None


def _obstacle(checkpoint: Checkpoint, done: int, stages: int) -> str | None:
    """Why the last batch cannot be run again; None if it can."""
    if not checkpoint.offsets(done).exists():
        return f"{checkpoint.offsets(done)} is missing, in which Spark says what batch {done} reads"
    before = state_problem(checkpoint, done - 1, stages)
    if before is not None:
        return before.message
    if any(ShardStore(folder).has(done + 1) for folder in checkpoint.shards(done + 1, stages - 1)):
        # Spark would plan that batch anew, perhaps with more rows, and a sink may have written it as it was.
        return f"batch {done + 1} has begun, and its answers may have been written"
    return None


def _go_back(checkpoint: Checkpoint, done: int, stages: int) -> None:
    """Let Spark forget that the batch is done. Whatever of this is cut short, the next start does again."""
    _remove(checkpoint.offsets(done + 1))  # else Spark would go on with that batch
    _remove(checkpoint.commits / str(done))
    for batch in (done, done + 1):
        for stage in range(stages):
            for folder in checkpoint.shards(batch, stage):
                manifest_path(folder, batch).unlink(missing_ok=True)


def _remove(file: Path) -> None:
    """Remove one of Spark's files, and the checksum that Hadoop keeps beside it."""
    file.unlink(missing_ok=True)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
