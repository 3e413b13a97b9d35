"""The columns of a file that belong to declared columns, by name."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.core.errors import DataError, did_you_mean
from thalweg.core.schema import Schema


def plain(name: str) -> str:
    """A name that CQL accepts: Zeek's `id.orig_h` becomes `id_orig_h`."""
    return name.replace(".", "_")


def places_of(path: str, schema: Schema, names: Sequence[str]) -> list[int]:
    """The place of each column of `schema` among `names`; case does not matter, and a dot equals `_`."""
    by_name = {plain(name).casefold(): i for i, name in reversed(list(enumerate(names)))}
    for wanted in schema.names:
        if plain(wanted).casefold() not in by_name:
            known = [plain(name) for name in names]
            raise DataError(f"{path} has no column {wanted}", candidates=known, hint=did_you_mean(wanted, known))
    return [by_name[plain(wanted).casefold()] for wanted in schema.names]
