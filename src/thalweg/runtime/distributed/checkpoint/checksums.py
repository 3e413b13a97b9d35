"""Checksums of the files of a checkpoint: a file that has changed on disk is noticed when it is read.

There are three forms (docs/checkpoint-format.md):

- a JSON object ends with a field `checksum`, which is that of all bytes before the field;
- an Arrow stream is followed by a trailer: the checksum and the size of the stream;
- a run file has neither: the manifest that names it has its size and checksum, a `Seal`.
"""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import xxhash

from thalweg.core.errors import CheckpointError

FROM_A_BACKUP = "restore the file from a backup"

# What parsed JSON of the wrong shape raises when its parts are used.
WRONG_SHAPE = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError)

_FIELD = b'"checksum": "'
_END = re.compile(rb'([0-9a-f]{16})"\s*\}\s*')
_TRAILER = struct.Struct("<8sQQ")  # the mark, the checksum, the size of the stream
_MARK = b"THALWEG1"
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"  # Arrow's


def checksum(content: bytes | pa.Buffer | memoryview) -> str:
    """XXH3 of 64 bits, in hexadecimal digits."""
    return xxhash.xxh3_64_hexdigest(content)


class Seal(NamedTuple):
    """The size and the checksum that a file, or a part of one, must have."""

    size: int
    checksum: str

    @staticmethod
    def of(content: bytes | pa.Buffer) -> Seal:
        """The seal of bytes that are about to be written."""
        return Seal(len(content), checksum(content))

    @staticmethod
    def read(given: Any) -> Seal:
        """A seal from JSON; a ValueError if it is none."""
        size, digits = given
        if type(size) is not int or type(digits) is not str:
            raise ValueError(f"{given!r} is no size and checksum")
        return Seal(size, digits)

    def check(self, path: Path, content: bytes | pa.Buffer) -> None:
        """Raise a CheckpointError if a file has other contents."""
        self.check_size(path, len(content))
        found = checksum(content)
        if found != self.checksum:
            raise damaged(path, f"its checksum must be {self.checksum}, but is {found}")

    def check_size(self, path: Path, size: int) -> None:
        """Raise a CheckpointError if a file has another size."""
        if size != self.size:
            raise damaged(path, f"it must have {self.size} bytes, but has {size}")


def damaged(path: Path, why: object, hint: str = FROM_A_BACKUP) -> CheckpointError:
    """The error for a file that has other contents than were written."""
    return CheckpointError(f"{path} cannot be read: {why}", hint=hint)


# -- JSON


def sealed_json(tree: dict[str, Any], indent: int | None = None) -> bytes:
    """An object as JSON, with its checksum as the last field; in one line without `indent`."""
    text = json.dumps(tree, indent=indent).encode()
    start = text[:-1].rstrip() + (b",\n" + b" " * indent if indent else b", ")
    return start + _FIELD + checksum(start).encode() + (b'"\n}' if indent else b'"}')


def open_json(path: Path, raw: bytes, version: int) -> dict[str, Any]:
    """The object that `sealed_json` was given, without the checksum; a CheckpointError if the bytes have changed.

    An object of this `version` must have a checksum. Those of older versions have none, and are taken as they are.
    """
    start, field, end = raw.rpartition(_FIELD)
    found = _END.fullmatch(end) if field else None
    if field and (found is None or found[1].decode() != checksum(start)):
        wanted = end.strip()[:16].decode(errors="replace") if found is None else found[1].decode()
        raise damaged(path, f"its checksum must be {wanted}, but is {checksum(start)}")
    try:
        tree = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error
    if not isinstance(tree, dict):
        raise damaged(path, "it must hold a JSON object")
    if found is None and tree.get("version") == version:
        raise damaged(path, "it must end with a checksum, but has none")
    tree.pop("checksum", None)
    return tree


# -- Arrow


def sealed_arrow(stream: pa.Buffer) -> bytes:
    """An Arrow stream with its trailer. Readers of Arrow ignore what follows the end of a stream."""
    content: bytes = stream.to_pybytes()
    return content + _TRAILER.pack(_MARK, xxhash.xxh3_64_intdigest(content), len(content))


def open_arrow(path: Path, content: pa.Buffer) -> pa.Buffer:
    """The stream that `sealed_arrow` was given, in place; one of an older version has no trailer."""
    if len(content) >= _TRAILER.size:
        mark, digest, size = _TRAILER.unpack(content.slice(len(content) - _TRAILER.size))
        if mark == _MARK:
            stream = content.slice(0, len(content) - _TRAILER.size)
            Seal(size, f"{digest:016x}").check(path, stream)
            return stream
    if content.slice(max(0, len(content) - len(_END_OF_STREAM))).to_pybytes() != _END_OF_STREAM:
        raise damaged(path, "it must end with a checksum, or with the end of an Arrow stream, but does not")
    return content
