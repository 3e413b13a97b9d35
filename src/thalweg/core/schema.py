"""Named, typed columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from thalweg.core.types import DataType


@dataclass(frozen=True)
class Field:
    """One column."""

    name: str
    type: DataType

    def __str__(self) -> str:
        return f"{self.name} {self.type}"


@dataclass(frozen=True)
class Schema:
    """The columns of a stream, a relation or a plan's output, in order. Names may repeat (after a join)."""

    fields: tuple[Field, ...]

    @staticmethod
    def of(**columns: DataType) -> Schema:
        """A schema from keyword arguments: `Schema.of(a=DataType.BIGINT)`."""
        return Schema(tuple(Field(name, type_) for name, type_ in columns.items()))

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __getitem__(self, index: int) -> Field:
        return self.fields[index]

    def __add__(self, other: Schema) -> Schema:
        return Schema(self.fields + other.fields)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(f.name for f in self.fields)

    @property
    def types(self) -> tuple[DataType, ...]:
        """Column types, in order."""
        return tuple(f.type for f in self.fields)

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema of tables with these columns."""
        return pa.schema([(f.name, f.type.arrow) for f in self.fields])

    def find(self, name: str) -> list[int]:
        """Positions of the columns called `name`; case does not matter."""
        wanted = name.casefold()
        return [i for i, f in enumerate(self.fields) if f.name.casefold() == wanted]

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self.fields)) + ")"
