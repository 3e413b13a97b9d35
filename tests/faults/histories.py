"""One history of the campaign: a query is started, disturbed and started again until all batches are committed.

The scheduler, the processes, the source and the sink are simulated; the steps, the store, the lease and the restart
are Thalweg's own. A sink keeps what was last written for a batch, as all sinks do.
"""

from __future__ import annotations

import json
import random
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from faults.attempts import Process, Sleeper, failing_at
from faults.disk import Crash
from faults.drawn import BATCHES, Case, Emitted
from faults.lives import commit
from faults.mishaps import DAMAGES, DISK_ERRORS, DRIVER_DEATHS, TO_TASKS, Fault, Kind, damage, disk_error, is_disk_error
from thalweg.core.errors import CheckpointError, CheckpointWarning, SnapshotError
from thalweg.kernel.pipeline.identity import Identity
from thalweg.runtime.distributed.checkpoint.folder import Asked, Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.checkpoint.lease import HeldLease, take
from thalweg.runtime.distributed.checkpoint.query_file import PinnedChoice
from thalweg.runtime.distributed.checkpoint.report import LATE
from thalweg.runtime.distributed.checkpoint.resume import resume
from thalweg.runtime.distributed.exchange.message import Message
from thalweg.runtime.distributed.ingest.side_outputs import read_side_output
from thalweg.runtime.distributed.worker import step as worker
from thalweg.runtime.distributed.worker.program import StepResult

GROUPS, MOST_SHARDS, ATTEMPTS, STARTS = 4, 3, 4, 60
IDENTITY = Identity("a plan", "digest", "auto")
AN_HOUR = 3_600_000_000  # microseconds


class DifferenceError(Exception):
    """What must never happen: an answer that is wrong, a fault that is silent, an error that is raw."""


class DriverDied(Exception):  # noqa: N818
    """The driver is gone; another one is started."""


class Refused(Exception):  # noqa: N818
    """The run has ended with an error that names the damaged file."""


class Past:
    """A query and all that happens to it."""

    def __init__(self, case: Case, folder: Path, faults: Sequence[Fault], seed: str) -> None:
        self.case, self.place, self._draw = case, Checkpoint(folder), random.Random(seed)
        self._left = list(faults)
        self.struck: Counter[Kind] = Counter()
        self.fell_back = 0
        self.written: dict[int, Emitted] = {}
        self._processes = [Process(), Process()]
        self._sleepers: list[tuple[int, Sleeper]] = []  # with the batches before which they wake up
        self._damaged: list[Path] = []
        self._shards = self._draw.randint(1, MOST_SHARDS)
        self._system = 1_000_000 * AN_HOUR

    # -- a life

    def run(self) -> str:
        """All batches; "done" or "refused"."""
        for _ in range(STARTS):
            try:
                self._drive(BATCHES)
                self._wake(BATCHES + 1)
                self._check_late_rows()
                return "done"
            except DriverDied:
                for process in self._processes:
                    process.die()
            except Refused:
                return "refused"
            finally:
                self._stop_sleepers()
        raise DifferenceError(f"the query was started {STARTS} times and is not done")

    def _drive(self, until: int) -> None:
        """A driver from its start on, until all batches before `until` are committed, or an error ends it."""
        try:
            with self._warnings():
                lease = self._lease()
                if self.place.is_claimed:
                    resume(self.place, self.case.stages)
                layouts = self.place.claim(IDENTITY, Asked(self._shards, self._shards, GROUPS), PinnedChoice())
            for batch in range(self.place.committed + 1, until):
                self._between_batches(batch)
                self._batch(batch, layouts, lease)
        except (CheckpointError, SnapshotError) as error:
            self._judge(error)

    def _lease(self) -> HeldLease:
        try:
            return take(self.place.folder)
        except CheckpointError as error:
            if not any(path.name == "lease.json" for path in self._damaged) or "lease.json" not in str(error):
                raise
            return take(self.place.folder, take_over=True)  # as the error's hint says

    def _judge(self, error: CheckpointError | SnapshotError) -> None:
        """An error has ended the run: it must name what is damaged, full, or taken over."""
        message = str(error)
        if str(self.place.folder) in message and (is_disk_error(message) or "has taken over" in message):
            raise DriverDied from error
        if any(path.name in message or str(path.parent) in message for path in self._damaged):
            raise Refused from error
        raise DifferenceError(f"an error that no fault explains: {message}") from error

    @contextmanager
    def _warnings(self) -> Iterator[None]:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield
        for warning in warned:
            text = str(warning.message)
            if not issubclass(warning.category, CheckpointWarning):
                raise DifferenceError(f"a warning that is none of a checkpoint: {text}")
            if not any(path.name in text or str(path.parent) in text for path in self._damaged):
                raise DifferenceError(f"a warning that names no damaged file: {text}")
            self.fell_back += 1

    def _between_batches(self, batch: int) -> None:
        """Restarts and damages before a batch; old attempts wake up."""
        self._wake(batch)
        if self._strikes(Kind.RESHARD, batch) is not None:
            self._shards = self._draw.randint(1, MOST_SHARDS)
            raise DriverDied
        for kind in DAMAGES:
            fault = self._strikes(kind, batch)
            if fault is not None:
                path = damage(self.place.folder, kind, fault.number, batch - 1)
                self._damaged += [] if path is None else [path]
                raise DriverDied

    # -- a batch

    def _batch(self, batch: int, layouts: Layouts, lease: HeldLease) -> None:
        system = self._planned(batch)
        self._point("planned", batch)
        messages = self.case.messages(batch, layouts, system)
        if self._strikes(Kind.RE_READ, batch) is not None:
            messages = self.case.messages(batch, layouts, system)
        for stage in range(self.case.stages):
            results = self._stage(stage, batch, messages, layouts, lease.fence)
            messages = [message for result in results for message in result.messages]
            self._point("between" if stage < self.case.stages - 1 else "steps", batch)
        lease.check()
        emitted = self.case.emitted(results)
        if self.place.committed >= batch:
            raise DifferenceError(f"a driver has written batch {batch} after another one had committed it")
        if self.written.setdefault(batch, emitted) != emitted:
            raise DifferenceError(f"batch {batch} was written again with other rows")
        self._point("written", batch)
        commit(self.place, batch)
        self._point("committed", batch)

    def _planned(self, batch: int) -> int:
        """When the batch was planned, by the system's clock, as Spark writes it: the same when it is run again."""
        back = self._strikes(Kind.CLOCK_BACK, batch) is not None
        self._system += -AN_HOUR if back else 1_000_000
        path = self.place.offsets(batch)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(json.dumps(self._system).encode())
        return int(json.loads(path.read_text()))

    def _point(self, name: str, batch: int) -> None:
        """A named point of the protocol: the driver may die here, or lose the checkpoint to another one."""
        if self._strikes(DRIVER_DEATHS[name], batch) is not None:
            raise DriverDied
        if name in ("between", "steps") and self._strikes(Kind.TAKE_OVER, batch) is not None:
            mine, self._processes = self._processes, [Process(), Process()]
            self._shards = self._draw.randint(1, MOST_SHARDS)
            self._drive(batch + 1)
            self._processes = mine  # the old driver goes on: it must be refused

    def _stage(self, stage: int, batch: int, messages: list[Message], layouts: Layouts, fence: int) -> list[StepResult]:
        shards = layouts.last.shards
        results, errors = dict[int, StepResult](), list[CheckpointError]()
        for shard in self._draw.sample(range(shards), shards):
            mine = [message for message in messages if message.group % shards == shard]
            task = Task(self, stage, shard, batch, mine, layouts, fence)
            try:
                results[shard] = task.run(self._struck_in(stage, shard, batch, shards))
            except CheckpointError as error:  # Spark lets the other tasks run until it has heard of it
                errors.append(error)
        if errors:
            raise errors[0]
        return [results[shard] for shard in range(shards)]

    # -- faults

    def _strikes(self, kind: Kind, batch: int) -> Fault | None:
        """The next fault of a kind that strikes in a batch; it strikes once."""
        for fault in self._left:
            if fault.kind is kind and fault.batch == batch:
                self._left.remove(fault)
                self.struck[kind] += 1
                return fault
        return None

    def _struck_in(self, stage: int, shard: int, batch: int, shards: int) -> list[Fault]:
        """The faults that strike a task; they strike once."""
        place = (batch, stage, shard)
        mine = [f for f in self._left if f.kind in TO_TASKS and (f.batch, f.stage, f.shard % shards) == place]
        self._left = [fault for fault in self._left if fault not in mine]
        self.struck.update(fault.kind for fault in mine)
        return mine

    def process(self) -> Process:
        """One of the workers' processes."""
        return self._draw.choice(self._processes)

    def sleeps(self, sleeper: Sleeper, until: int) -> None:
        """An attempt has fallen asleep."""
        self._sleepers.append((until, sleeper))

    def _wake(self, batch: int) -> None:
        due = [sleeper for until, sleeper in self._sleepers if until <= batch]
        self._sleepers = [(until, sleeper) for until, sleeper in self._sleepers if until > batch]
        for sleeper in due:
            accept(sleeper.wake())

    def _stop_sleepers(self) -> None:
        """After the last batch nobody may be left asleep."""
        if self.place.committed >= BATCHES - 1:
            self._wake(BATCHES + 1)

    def abandon(self) -> None:
        """End all threads, whatever becomes of them."""
        for _, sleeper in self._sleepers:
            sleeper.wake()
        self._sleepers = []

    # -- afterwards

    def _check_late_rows(self) -> None:
        for stream, wanted in self.case.late.items():
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                try:
                    tables = read_side_output(self.place.folder, LATE, stream)
                except CheckpointError as error:
                    self._judge(error)
                    return
            found = Counter(tuple(row.values()) for table in tables for row in table.to_pylist())
            if found != wanted and not (warned and any("side_outputs" in path.parts for path in self._damaged)):
                raise DifferenceError(f"late rows of {stream} are {dict(found)}, but must be {dict(wanted)}")


class Task:
    """The task of a shard in a batch, and its attempts."""

    def __init__(
        self, past: Past, stage: int, shard: int, batch: int, messages: list[Message], layouts: Layouts, fence: int
    ) -> None:
        self._past, self._batch, self._messages = past, batch, messages
        self._spec = past.case.run_spec(layouts).stages[stage]
        self._place = worker.ShardId(f"{fence:06}", str(past.place.folder), stage, shard, fence)

    def run(self, faults: list[Fault]) -> StepResult:
        """The attempts before the one that counts, that one, and those after it."""
        later: list[Fault] = []
        for fault in faults:
            if fault.kind is Kind.CUT_SHORT_AFTER:
                later.append(fault)
            else:
                self._suffer(fault)
        process = self._past.process()
        process.enter()
        result = self._attempt(self._messages)
        for fault in later:
            if fault.number % 2:  # in the same process
                self._attempt(self._some(fault))
            else:
                self._elsewhere(self._some(fault))
        return result

    def _attempt(self, messages: Sequence[Message]) -> StepResult:
        return worker.run_step(self._spec, self._place, self._batch, messages)

    def _elsewhere(self, messages: Sequence[Message]) -> None:
        Process().enter()
        self._attempt(messages)

    def _some(self, fault: Fault) -> Sequence[Message]:
        return self._messages[: fault.number % max(1, len(self._messages))]

    def _suffer(self, fault: Fault) -> None:
        process = self._past.process()
        process.enter()
        match fault.kind:
            case Kind.DIES_BEFORE:
                process.die()
            case Kind.DIES_WITHIN:
                try:
                    with failing_at(1 + fault.number % 24, Crash):
                        self._attempt(self._messages)
                except Crash:
                    pass
                process.die()
            case Kind.DIES_AFTER:
                self._attempt(self._messages)
                process.die()
            case Kind.OUTPUT_LOST:
                self._attempt(self._messages)
            case Kind.TWICE:
                self._elsewhere(self._messages)
            case Kind.REORDERED:
                self._attempt(random.Random(fault.number).sample(self._messages, len(self._messages)))
            case Kind.CUT_SHORT:
                self._elsewhere(self._some(fault))
            case Kind.AT_ONCE | Kind.WAKES_LATER:
                sleeper = Sleeper(lambda: self._attempt(self._messages), 1 + fault.number % 20, Process())
                if fault.kind is Kind.WAKES_LATER:
                    self._past.sleeps(sleeper, self._batch + 1 + fault.number // 20 % 3)
                    return
                self._elsewhere(self._messages)
                accept(sleeper.wake())
            case _:
                self._disk_fails(fault)

    def _disk_fails(self, fault: Fault) -> None:
        """The disk does not take what is written, in one attempt or in all that Spark makes."""
        assert fault.kind in DISK_ERRORS
        attempts = 1 + fault.number // 24 % ATTEMPTS
        for attempt in range(1, attempts + 1):
            self._past.process().enter()
            try:
                with failing_at(1 + fault.number % 24, lambda: disk_error(fault.kind), from_then_on=True):
                    self._attempt(self._messages)
            except CheckpointError as error:
                if not is_disk_error(str(error)) or attempt == ATTEMPTS:
                    raise


def accept(error: BaseException | None) -> None:
    """An attempt that nobody waits for may have been refused, but with words."""
    if error is not None and not isinstance(error, CheckpointError):
        raise DifferenceError(f"an old attempt ended with a raw error: {error!r}") from error
