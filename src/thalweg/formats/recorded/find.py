"""The files that a user's path, folder or glob stands for."""

from __future__ import annotations

from pathlib import Path

from thalweg.core.errors import DataError, did_you_mean
from thalweg.formats.recorded.records import READERS, ending


def find_files(pattern: str) -> list[Path]:
    """A file by its name, all files of a known format in a folder, or all files of a glob; sorted by name."""
    path = Path(pattern)
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if ending(file) in READERS)
        if not found:
            raise DataError(f"the folder {pattern} has no input file", candidates=[f"*{end}" for end in READERS])
        return found
    if path.exists():
        return [path]
    try:
        found = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    except ValueError as error:
        raise DataError(f"{pattern} is no glob: {error}") from None
    files = [file for file in found if file.is_file()]
    if not files:
        raise no_such_file(path)
    return files


def no_such_file(path: Path) -> DataError:
    """The error for a missing file; it suggests a file with a similar name."""
    siblings = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    return DataError(f"there is no file {path}", hint=did_you_mean(path.name, siblings))
