"""The lease: which driver may run a query from a checkpoint. There is one at a time.

`lease.json` names the driver that holds the checkpoint, and when it last said so. Its number, the *fence*, goes up with
each start. Every manifest carries the fence of its start, and a shard whose fence is lower than the one on disk cannot
save a state. So a driver that was thought dead, and wakes up after another has taken over, changes nothing.
"""

from __future__ import annotations

import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.checksums import WRONG_SHAPE, damaged, open_json, sealed_json
from thalweg.runtime.distributed.checkpoint.files import not_written, read_bytes, replace_file
from thalweg.runtime.distributed.checkpoint.layouts import shard_folders
from thalweg.runtime.distributed.checkpoint.manifest import manifest_batches, read_manifest

LEASE = "lease.json"
_LOCK = ".lease.lock"
_VERSION = 1
VALID_SECONDS = 60.0  # after the last renewal
_LATEST = 1e11  # seconds since 1970: what `datetime` can show
RENEW_SECONDS = 10.0  # between two renewals


@dataclass(frozen=True)
class Lease:
    """The contents of lease.json."""

    fence: int
    host: str
    boot: str  # an id that the host has had since it was switched on; empty where there is none
    process: int
    process_start: str  # when the process began, as the system counts; empty where it does not say
    since: float  # seconds since 1970, by the clock of the host
    renewed: float
    released: bool = False

    def is_free(self, now: float) -> bool:
        """Whether another driver may have the checkpoint: it was given back, has expired, or its process is dead."""
        here = _here()
        if self.released or now - self.renewed > VALID_SECONDS:
            return True
        if self.host != here.host:
            return False
        if self.boot != here.boot:
            return True
        return self.process == os.getpid() or _process_start(self.process) != self.process_start

    def shown(self, now: float) -> str:
        """For people."""
        since = datetime.fromtimestamp(self.since, UTC).strftime("%Y-%m-%d %H:%M:%S")
        ago = max(0, round(now - self.renewed))
        return f"driver {self.process} on host {self.host} has it since {since} UTC, renewed {ago} s ago"


def read_lease(checkpoint: Path) -> Lease | None:
    """The lease of a checkpoint; None if it never had one."""
    path = checkpoint / LEASE
    try:
        raw = read_bytes(path)
    except FileNotFoundError:
        return None
    tree = open_json(path, raw, _VERSION)
    if tree.pop("version", None) != _VERSION:
        raise damaged(path, f"it must have version {_VERSION}")
    try:
        lease = Lease(**tree)
        if not all(type(number) is int and number > 0 for number in (lease.fence, lease.process)):
            raise ValueError("fence and process must be whole numbers")
        if not all(type(t) is float and 0 <= t < _LATEST for t in (lease.since, lease.renewed)):
            raise ValueError("since and renewed must be times")
        return lease
    except WRONG_SHAPE as error:
        raise damaged(path, repr(error)) from error


def check_fence(checkpoint: Path, fence: int) -> None:
    """Raise a CheckpointError if another driver has taken the checkpoint over since the start with this fence."""
    lease = read_lease(checkpoint)
    if lease is not None and lease.fence > fence:
        raise taken_over(checkpoint, lease)


def taken_over(checkpoint: Path, lease: Lease) -> CheckpointError:
    """The error for a driver that has lost its lease."""
    return CheckpointError(
        f"another driver has taken over {checkpoint}: {lease.shown(time.time())}",
        hint="this one may not write any more; stop it",
    )


class HeldLease:
    """A lease that this process holds: it is renewed in a thread until it is released, or lost."""

    def __init__(self, checkpoint: Path, lease: Lease) -> None:
        self._checkpoint, self._lease, self._ended = checkpoint, lease, threading.Event()

    @property
    def fence(self) -> int:
        """The number of this start."""
        return self._lease.fence

    def check(self) -> None:
        """Raise a CheckpointError if another driver has taken over."""
        check_fence(self._checkpoint, self.fence)

    def keep(self, is_needed: Callable[[], bool] = lambda: True) -> None:
        """Renew the lease from now on; release it when it is no longer needed."""
        threading.Thread(target=self._renew, args=(is_needed,), name="thalweg-lease", daemon=True).start()

    def _renew(self, is_needed: Callable[[], bool]) -> None:
        while not self._ended.wait(RENEW_SECONDS):
            try:
                if not is_needed():
                    self.release()
                elif not self._write(renewed=time.time()):
                    self._ended.set()
            except CheckpointError:  # the disk may be full for a while: the next time may be better
                continue

    def release(self) -> None:
        """Give the checkpoint back: the next start need not wait."""
        self._ended.set()
        with suppress(CheckpointError):  # then it expires
            self._write(released=True)

    def _write(self, **changes: Any) -> bool:
        """Write the lease again; False if another driver has taken over."""
        with _locked(self._checkpoint):
            now = read_lease(self._checkpoint)
            if now is None or now.fence != self.fence or now.released:
                return False
            self._lease = replace(self._lease, **changes)
            _save(self._checkpoint, self._lease)
            return True


def take(checkpoint: Path, take_over: bool = False) -> HeldLease:
    """Take the lease of a checkpoint; a CheckpointError if another driver has it, unless `take_over`."""
    with _locked(checkpoint):
        known, now = _known(checkpoint, take_over), time.time()
        if known is not None and not take_over and not known.is_free(now):
            left = round(VALID_SECONDS - (now - known.renewed))
            raise CheckpointError(
                f"{checkpoint} is in use: {known.shown(now)}",
                hint=f"stop that driver; or, if it is dead, wait {left} seconds, or start with take_over=True "
                "(thalweg run --take-over)",
            )
        fence = max(0 if known is None else known.fence, _highest_fence(checkpoint)) + 1
        here = _here()
        lease = Lease(fence, here.host, here.boot, os.getpid(), here.process_start, since=now, renewed=now)
        _save(checkpoint, lease)
        return HeldLease(checkpoint, lease)


def _known(checkpoint: Path, take_over: bool) -> Lease | None:
    try:
        return read_lease(checkpoint)
    except CheckpointError as error:
        if take_over:
            return None
        error.hint = "if no other driver runs this query, start with take_over=True (thalweg run --take-over)"
        raise


def _highest_fence(checkpoint: Path) -> int:
    """The greatest fence of a saved state: lease.json may have been lost."""
    highest = 0
    for folder in shard_folders(checkpoint):
        for batch in manifest_batches(folder):
            with suppress(CheckpointError):
                highest = max(highest, read_manifest(folder, batch).fence)
    return highest


@contextmanager
def _locked(checkpoint: Path) -> Iterator[None]:
    """Keep other processes from reading and writing the lease at the same time."""
    path = checkpoint / _LOCK
    try:
        checkpoint.mkdir(parents=True, exist_ok=True)
        lock = path.open("ab")
    except OSError as error:
        raise not_written(path, error) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _save(checkpoint: Path, lease: Lease) -> None:
    replace_file(checkpoint / LEASE, sealed_json({"version": _VERSION, **asdict(lease)}, indent=2))


class _Here(NamedTuple):
    """This process: its host, since when the host runs, and when the process began."""

    host: str
    boot: str
    process_start: str


def _here() -> _Here:
    boot = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return _Here(socket.gethostname(), boot, _process_start(os.getpid()) or "")


def _process_start(process: int) -> str | None:
    """When a process of this machine began, in the system's own count; None if there is no such process."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return None
    except (PermissionError, OverflowError):
        pass
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except FileNotFoundError:
        return None if Path("/proc/self").exists() else ""
    except (OSError, IndexError):
        return ""
