"""A disk that fails: everything that changes files is counted, and at a given step the process dies or space runs out.

Power loss is worse than a crash: then files hold what was last brought to disk, and folders the names they had when
they were last brought to disk.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest


class Crash(BaseException):
    """The process is gone."""


def no_space() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Watcher(Protocol):
    """Is told of all that is done to files, and may raise an error instead."""

    def step(self) -> None:
        """Something is about to be changed."""

    def sync(self, handle: int) -> None:
        """A file or a folder was brought to disk."""


class Disk:
    """Watches what is done below a folder."""

    def __init__(self, root: Path, fail_at: int | None, failure: Callable[[], BaseException]) -> None:
        self.root, self.steps = root, 0
        self._fail_at, self._failure = fail_at, failure
        self._contents: dict[int, bytes] = {}  # by inode, as they are on disk for good
        self._names: dict[Path, dict[str, int]] = {}  # by folder, the inodes of its names as they are on disk for good
        self._folders: set[int] = set()  # the inodes that are folders
        for folder in [root, *filter(Path.is_dir, root.rglob("*"))]:
            self._keep_names(folder)
        for path in filter(Path.is_file, root.rglob("*")):
            self._contents[path.stat().st_ino] = path.read_bytes()

    def step(self) -> None:
        """Something is about to be changed."""
        self.steps += 1
        if self.steps == self._fail_at:
            raise self._failure()

    def sync(self, handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        if path.is_dir():
            self._keep_names(path)
        else:
            self._contents[path.stat().st_ino] = path.read_bytes()

    def _keep_names(self, folder: Path) -> None:
        self._names[folder] = {path.name: path.stat().st_ino for path in folder.iterdir()}
        self._folders.update(path.stat().st_ino for path in folder.iterdir() if path.is_dir())

    def lose_power(self) -> None:
        """Everything is as it was last brought to disk."""
        kept = {folder: dict(names) for folder, names in self._names.items() if self._reachable(folder)}
        shutil.rmtree(self.root)
        for folder in sorted(kept):
            folder.mkdir(parents=True, exist_ok=True)
            for name, inode in kept[folder].items():
                if inode not in self._folders:
                    (folder / name).write_bytes(self._contents.get(inode, b""))

    def _reachable(self, folder: Path) -> bool:
        if folder == self.root:
            return True
        known = folder.stat().st_ino in self._names.get(folder.parent, {}).values()
        return known and self._reachable(folder.parent)


@contextmanager
def failing(root: Path, fail_at: int | None = None, failure: Callable[[], BaseException] = Crash) -> Iterator[Disk]:
    """A disk that fails at the given step; with none, one that only counts them."""
    disk = Disk(root, fail_at, failure)
    with pytest.MonkeyPatch.context() as patch:
        watch(patch, disk)
        yield disk


def watch(patch: pytest.MonkeyPatch, disk: Watcher) -> None:
    """Tell a watcher of everything that changes files, from now on."""
    for name in ("replace", "unlink", "mkdir"):
        patch.setattr(Path, name, _stepping(getattr(Path, name), disk))
    really_open, really_sync = Path.open, os.fsync

    def opened(path: Path, mode: str = "r", **options: Any) -> Any:
        if "w" not in mode:
            return really_open(path, mode, **options)
        disk.step()
        return _Written(really_open(path, mode, **options), disk)

    def synced(handle: int) -> None:
        disk.step()
        really_sync(handle)
        disk.sync(handle)

    patch.setattr(Path, "open", opened)
    patch.setattr(os, "fsync", synced)


def _stepping(method: Callable[..., Any], disk: Watcher) -> Callable[..., Any]:
    def stepping(path: Path, *given: Any, **options: Any) -> Any:
        disk.step()
        return method(path, *given, **options)

    return stepping


class _Written:
    """A file that is open for writing; if that fails, half of it has been written."""

    def __init__(self, file: Any, disk: Watcher) -> None:
        self._file, self._disk = file, disk

    def write(self, content: Any) -> None:
        whole = bytes(content)
        self._file.write(whole[: len(whole) // 2])
        self._file.flush()
        self._disk.step()
        self._file.write(whole[len(whole) // 2 :])

    def __enter__(self) -> _Written:
        return self

    def __exit__(self, *error: Any) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
