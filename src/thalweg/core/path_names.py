"""Names of queries, streams and tables as names of files: any name gives a safe one, and two names never the same one.

Letters, digits, `_` and `-` stay; every other byte of the name in UTF-8 becomes `%` and two hexadecimal digits. A dot
is never part of that, so a digest of the name can follow one:

- if the name has capital letters, for file systems on which `Busy` and `busy` are the same file;
- if it would be too long.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_LONGEST = 120  # file systems allow 255 bytes, and some of our files have longer names than their folders
_KEPT = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")  # the names that older versions used as they are, and that were safe
_DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]", re.IGNORECASE)  # are no files in Windows, whatever follows


def path_name(name: str) -> str:
    """The name of a file or folder that stands for a name; it is never a path, nor the same for two names."""
    raw = name.encode("utf-8", "surrogatepass")
    parts = [chr(byte) if byte in _KEPT else f"%{byte:02X}" for byte in raw]
    if _DEVICES.fullmatch(name):
        parts[0] = f"%{raw[0]:02X}"
    safe = "".join(parts) or "%"
    if len(safe) <= _LONGEST and not re.search("[A-Z]", name):
        return safe
    digest = hashlib.blake2s(raw, digest_size=8).hexdigest()
    return f"{safe[:_LONGEST]}.{digest}"


def place_of(folder: Path, name: str, ending: str = "") -> Path:
    """The file or folder of a name in a folder; one that an older version has made under the plain name goes on."""
    safe = path_name(name) + ending
    plain = name + ending
    if safe != plain and _PLAIN.fullmatch(name) and folder.is_dir() and any(p.name == plain for p in folder.iterdir()):
        return folder / plain
    return folder / safe
