"""The log of a table's updates, with its primary key kept unique."""

from __future__ import annotations

from typing import Any, NamedTuple

from thalweg.algebra.catalog import Relation
from thalweg.core.errors import DataError
from thalweg.core.python_values import read_value
from thalweg.core.rows import Row
from thalweg.core.time import BEGINNING, Instant


class TableUpdate(NamedTuple):
    """A row that a table gains (+1) or loses (-1) at `t`; an update is both."""

    t: Instant
    sign: int
    row: Row


class TableLog:
    """Everything that happened to a table, and its rows by key as they are now."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.updates: list[TableUpdate] = []
        self._rows: dict[Row, Row] = {}

    @property
    def last(self) -> Instant:
        """When the table changed last."""
        return self.updates[-1].t if self.updates else BEGINNING

    def insert(self, rows: list[Row], t: Instant) -> list[TableUpdate]:
        """Add rows with new keys."""
        for key in self._once([self._key(row) for row in rows]):
            if key in self._rows:
                raise DataError(
                    f"{self.relation.name} already has a row with key {_show(key)}", hint="update(...) replaces a row"
                )
        return self._apply([TableUpdate(t, +1, row) for row in rows])

    def delete(self, keys: list[Any], t: Instant) -> list[TableUpdate]:
        """Remove the rows with these keys."""
        found = self._once([self._read_key(key) for key in keys])
        return self._apply([TableUpdate(t, -1, self._find(key)) for key in found])

    def update(self, rows: list[Row], t: Instant) -> list[TableUpdate]:
        """Replace the rows that have the same keys."""
        updates = []
        self._once([self._key(row) for row in rows])
        for row in rows:
            updates += [TableUpdate(t, -1, self._find(self._key(row))), TableUpdate(t, +1, row)]
        return self._apply(updates)

    def _apply(self, updates: list[TableUpdate]) -> list[TableUpdate]:
        for update in updates:
            if update.sign > 0:
                self._rows[self._key(update.row)] = update.row
            else:
                del self._rows[self._key(update.row)]
        self.updates += updates
        return updates

    def _key(self, row: Row) -> Row:
        return tuple(row[i] for i in self.relation.key)

    def _once(self, keys: list[Row]) -> list[Row]:
        """The keys of one call, which must differ: their order would otherwise decide."""
        for i, key in enumerate(keys):
            if key in keys[:i]:
                raise DataError(f"the key {_show(key)} of {self.relation.name} stands twice in one call")
        return keys

    def _find(self, key: Row) -> Row:
        if key not in self._rows:
            raise DataError(f"{self.relation.name} has no row with key {_show(key)}", hint="insert(...) adds a row")
        return self._rows[key]

    def _read_key(self, key: Any) -> Row:
        values = key if isinstance(key, tuple | list) else (key,)
        positions = self.relation.key
        if len(values) == len(self.relation.schema) > len(positions):  # a whole row names its key too
            values = [values[i] for i in positions]
        if len(values) != len(positions):
            names = ", ".join(self.relation.schema.names[i] for i in positions)
            raise DataError(f"the key of {self.relation.name} is ({names}), got {key!r}")
        where = f"key for {self.relation.name}"
        return tuple(read_value(self.relation.schema[i], v, where) for i, v in zip(positions, values, strict=True))


def _show(key: Row) -> str:
    return repr(key[0]) if len(key) == 1 else repr(key)
