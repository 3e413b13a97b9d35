"""Which files of a directory have been read: new files, renamed ones and changed ones are told apart.

A file is known by its name, its size, its date and its inode (where the file system has one). The memory is bounded:
beyond `remember` files the oldest are forgotten, and a file that is older than the newest forgotten one counts as read.
Files that are no longer there are forgotten first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

REMEMBER = 10_000  # files; Spark writes the whole memory with every batch


class FileId(NamedTuple):
    """A file as it was when it was listed: bytes, date in nanoseconds, and inode; 0 where there is none."""

    size: int
    date: int
    inode: int = 0

    def has_changed_from(self, before: FileId) -> bool:
        """Whether a file of the same name has other contents, as far as can be told; its date alone says nothing."""
        return self.size != before.size or (self.inode != before.inode and self.date != before.date)


Listing = dict[str, FileId]


@dataclass(frozen=True)
class FileMemory:
    """The files that were read, and the key of the newest that was forgotten."""

    files: Listing = field(default_factory=dict)
    horizon: tuple[int, str] | None = None

    @classmethod
    def from_json(cls, tree: dict[str, Any]) -> FileMemory:
        """The memory that `to_json` has described."""
        horizon = tree.get("horizon")
        files = {name: FileId(*values) for name, values in tree["files"].items()}
        return cls(files, None if horizon is None else (horizon[0], horizon[1]))

    def to_json(self) -> dict[str, Any]:
        """As an offset of Spark's."""
        files = {name: list(known) for name, known in self.files.items()}
        return {"files": files} | ({} if self.horizon is None else {"horizon": list(self.horizon)})

    def after(self, there: Listing, limit: int | None, remember: int = REMEMBER) -> FileMemory:
        """The memory after a look at the directory, of which up to `limit` new files are to be read, oldest first."""
        known = self._renamed(there)
        changed = {n: id_ for n, id_ in there.items() if n in known and id_.has_changed_from(known[n])}
        new = [name for name in _by_age(there) if name not in known and not self._is_forgotten(name, there[name])]
        found = {**known, **changed, **{name: there[name] for name in new[:limit]}}
        if found == self.files:
            return self
        return FileMemory(found, self.horizon)._bounded(there, remember)

    def _renamed(self, there: Listing) -> Listing:
        """The files under their present names."""
        names = {id_: name for name, id_ in self.files.items() if there.get(name) != id_ and id_.inode}
        moved = {names[id_]: name for name, id_ in there.items() if id_ in names and self.files.get(name) != id_}
        return {moved.get(name, name): id_ for name, id_ in self.files.items()}

    def _is_forgotten(self, name: str, found: FileId) -> bool:
        return self.horizon is not None and (found.date, name) <= self.horizon

    def _bounded(self, there: Listing, remember: int) -> FileMemory:
        too_many = len(self.files) - remember
        if too_many <= 0:
            return self
        gone = [name for name in _by_age(self.files) if name not in there][:too_many]
        old = [name for name in _by_age(self.files) if name in there][: too_many - len(gone)]
        horizon = max([self.horizon or (0, ""), *((self.files[name].date, name) for name in old)])
        forgotten = {*gone, *old}
        kept = {name: id_ for name, id_ in self.files.items() if name not in forgotten}
        return FileMemory(kept, horizon if old else self.horizon)


class Step(NamedTuple):
    """What happened from one memory to the next: files to read, and what a person should know about others."""

    new: Listing
    notices: dict[str, str]  # by name


def step(before: FileMemory, after: FileMemory) -> Step:
    """Compare two memories. Spark may ask again for the same two after a restart, so nothing else is looked at."""
    new: Listing = {}
    notices = {}
    olds = {id_: name for name, id_ in before.files.items() if after.files.get(name) != id_}
    moved_away = {olds[id_] for name, id_ in after.files.items() if before.files.get(name) != id_ and id_ in olds}
    for name, id_ in after.files.items():
        was = before.files.get(name)
        if was == id_:
            continue
        if id_.inode and id_ in olds:
            notices[name] = f"the file was read as {olds[id_]} and then renamed; it is not read again"
        elif was is None or name in moved_away:
            new[name] = id_
        else:
            notices[name] = _changed(was, id_)
    return Step(new, notices)


def _changed(before: FileId, now: FileId) -> str:
    if now.size > before.size and now.inode == before.inode:
        more = now.size - before.size
        return f"the file has grown by {more:,} bytes since it was read; what was appended is not read"
    return f"the file had {before.size:,} bytes when it was read, and now has {now.size:,}; it is not read again"


def _by_age(files: Listing) -> Iterable[str]:
    return sorted(files, key=lambda name: (files[name].date, name))
