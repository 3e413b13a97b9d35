"""What is in a wheel, held against the source: `make wheel` builds one and asks for the complaints about it."""

from __future__ import annotations

import sys
import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

SOURCE = Path(__file__).parents[2] / "src"
# Folders that have a home outside the package, wherever they would stand in it.
ELSEWHERE = {"bench", "benchmarks", "docs", "examples", "programs", "tests"}


def source_files() -> set[str]:
    """Every file of the package that is not made by running it."""
    return {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "thalweg").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def complaints(wheel: Path) -> list[str]:
    """What is in the wheel and should not be, or is not and should be."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        about = Parser().parsestr(archive.read(metadata).decode())
    own = PurePosixPath(metadata).parts[0]
    files = {name for name in names if PurePosixPath(name).parts[0] != own}
    found = [f"{name} is not a file of the package" for name in sorted(files - source_files())]
    found += [f"{name} is missing" for name in sorted(source_files() - files)]
    found += [f"{name} belongs elsewhere" for name in sorted(files) if ELSEWHERE & set(PurePosixPath(name).parts[:-1])]
    if "thalweg/py.typed" not in files:
        found.append("thalweg/py.typed is missing: type checkers would not read the types")
    for field in ("Author", "License-Expression", "Requires-Python", "Description-Content-Type"):
        if about[field] is None:
            found.append(f"the metadata have no {field}")
    return found


if __name__ == "__main__":
    (wheel,) = map(Path, sys.argv[1:])
    with zipfile.ZipFile(wheel) as archive:
        print(f"{wheel}: {wheel.stat().st_size:,} bytes, {len(archive.namelist())} files")
    if wrong := complaints(wheel):
        sys.exit("\n".join(wrong))
