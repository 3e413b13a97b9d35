"""States of users' aggregates as JSON, for snapshots: plain values only, so that reading one never runs code.

| value | in JSON |
|---|---|
| None, bool, float, str, int of 64 bits, list | itself |
| a larger int | `{"int": "-0x..."}` |
| bytes | `{"bytes": base64}` |
| tuple | `{"tuple": [...]}` |
| dict | `{"dict": [[key, value], ...]}`, in its order |
| datetime, without a zone of a name | `{"datetime": [ISO 8601, fold]}` |
| timedelta | `{"timedelta": [days, seconds, microseconds]}` |
| a number or an array of NumPy's | `{"numpy": [dtype, shape, base64]}` |
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from datetime import datetime, timedelta, timezone
from math import prod
from typing import Any

import numpy as np

from thalweg.core.errors import SnapshotError

ALLOWED = "None, bool, int, float, str, bytes, datetime, timedelta, lists, tuples and dicts of these, arrays of numbers"

_PLAIN = (type(None), bool, float, str)
_LARGEST = 2**63  # larger integers could have more digits than Python reads as decimals
_DTYPES = re.compile(r"[<>|=]?[biuf]\d+")


class _NotPlainError(Exception):
    """A value of another type."""


def written_states(states: dict[int, tuple[Any, int]], aggregate: str) -> bytes:
    """By group code a state and its number of values, as JSON; a SnapshotError if a state is not plain."""
    try:
        return json.dumps([[code, count, _encoded(state)] for code, (state, count) in states.items()]).encode()
    except _NotPlainError as error:
        raise SnapshotError(
            f"the aggregate {aggregate} has a state with a {error}, which a checkpoint cannot hold",
            hint=f"make its state of {ALLOWED}",
        ) from None
    except RecursionError:
        raise SnapshotError(
            f"the aggregate {aggregate} has a state that contains itself, or is nested too deeply for a checkpoint",
            hint=f"make its state of {ALLOWED}",
        ) from None


def read_states(text: bytes, aggregate: str) -> dict[int, tuple[Any, int]]:
    """The inverse of `written_states`."""
    try:
        return {int(code): (_decoded(state), int(count)) for code, count, state in json.loads(text)}
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise SnapshotError(
            f"the snapshot's states of the aggregate {aggregate} cannot be read: {error!r}",
            hint="the checkpoint is damaged; restore it from a backup, or start the query anew",
        ) from error


def _encoded(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is int:
        return value if -_LARGEST <= value < _LARGEST else {"int": hex(value)}
    if kind is list:
        return [_encoded(item) for item in value]
    if kind is tuple:
        return {"tuple": [_encoded(item) for item in value]}
    if kind is dict:
        return {"dict": [[_encoded(key), _encoded(item)] for key, item in value.items()]}
    if kind is bytes:
        return {"bytes": b64encode(value).decode()}
    if kind is datetime and (value.tzinfo is None or type(value.tzinfo) is timezone):
        return {"datetime": [value.isoformat(), value.fold]}
    if kind is timedelta:
        return {"timedelta": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, np.generic) or kind is np.ndarray:
        array = np.asarray(value)
        if _DTYPES.fullmatch(array.dtype.str):
            data = b64encode(np.ascontiguousarray(array).tobytes()).decode()
            return {"numpy": [array.dtype.str, None if kind is not np.ndarray else list(array.shape), data]}
    raise _NotPlainError(kind.__qualname__)


def _decoded(tree: Any) -> Any:
    match tree:
        case list():
            return [_decoded(item) for item in tree]
        case {"int": text}:
            return int(text, 16)
        case {"tuple": items}:
            return tuple(_decoded(item) for item in items)
        case {"dict": pairs}:
            return {_decoded(key): _decoded(item) for key, item in pairs}
        case {"bytes": text}:
            return b64decode(text, validate=True)
        case {"datetime": [text, fold]}:
            return datetime.fromisoformat(text).replace(fold=fold)
        case {"timedelta": [days, seconds, microseconds]}:
            return timedelta(days, seconds, microseconds)
        case {"numpy": [dtype, shape, text]}:
            return _array(dtype, shape, b64decode(text, validate=True))
        case dict():
            raise ValueError(f"{sorted(tree)} is no value")
    return tree


def _array(dtype: str, shape: list[int] | None, data: bytes) -> Any:
    if not _DTYPES.fullmatch(dtype) or prod(shape or ()) * np.dtype(dtype).itemsize != len(data):
        raise ValueError(f"{len(data)} bytes are no array of {dtype} {shape}")
    array = np.frombuffer(data, dtype=dtype).reshape(shape or ()).copy()
    return array[()] if shape is None else array
