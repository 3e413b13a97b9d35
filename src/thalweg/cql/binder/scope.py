"""The columns that names can refer to at one point of a query."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.algebra.expressions import Column
from thalweg.algebra.plan import Plan
from thalweg.core.errors import NameNotFoundError, did_you_mean
from thalweg.core.types import DataType


@dataclass(frozen=True)
class ScopeColumn:
    """A visible column: the table it is qualified by, its name, and where the plan has it.

    `merged` columns are the second half of a USING pair: reachable by qualifier only.
    """

    qualifier: str | None
    name: str
    index: int
    type: DataType
    merged: bool = False

    @property
    def shown(self) -> str:
        """As an error lists it."""
        return f"{self.qualifier}.{self.name}" if self.qualifier else self.name

    def to_expression(self) -> Column:
        """The reference."""
        return Column(self.index, self.type, self.shown)


@dataclass(frozen=True)
class NameScope:
    """Visible columns, in the order `*` lists them."""

    columns: tuple[ScopeColumn, ...]

    @staticmethod
    def of(plan: Plan, qualifier: str | None) -> NameScope:
        """All columns of a plan under one qualifier."""
        return NameScope(tuple(ScopeColumn(qualifier, f.name, i, f.type) for i, f in enumerate(plan.schema)))

    def shifted(self, by: int) -> NameScope:
        """The same columns in a plan with `by` more in front."""
        return NameScope(tuple(ScopeColumn(c.qualifier, c.name, c.index + by, c.type, c.merged) for c in self.columns))

    def __add__(self, other: NameScope) -> NameScope:
        return NameScope(self.columns + other.columns)

    def star(self, qualifier: str | None = None) -> list[ScopeColumn]:
        """The columns that `*` or `qualifier.*` stands for."""
        if qualifier is None:
            return [c for c in self.columns if not c.merged]
        found = [c for c in self.columns if _same(c.qualifier, qualifier)]
        if not found:
            raise NameNotFoundError(
                f"there is no table {qualifier} in FROM", candidates=sorted({c.qualifier or "" for c in self.columns})
            )
        return found

    def find(self, name: str, qualifier: str | None) -> list[ScopeColumn]:
        """The columns a name could mean."""
        if qualifier is None:
            return [c for c in self.columns if _same(c.name, name) and not c.merged]
        return [c for c in self.columns if _same(c.name, name) and _same(c.qualifier, qualifier)]

    def resolve(self, name: str, qualifier: str | None) -> ScopeColumn:
        """The one column a name means; an error lists what it could have been."""
        found = self.find(name, qualifier)
        shown = f"{qualifier}.{name}" if qualifier else name
        if len(found) > 1:
            raise NameNotFoundError(
                f"{shown} could be more than one column",
                candidates=[c.shown for c in found],
                hint="write the table in front, or give each table an alias",
            )
        if not found:
            names = [c.shown for c in self.columns]
            plain = {c.name for c in self.columns} | set(names)
            raise NameNotFoundError(
                f"there is no column {shown}", candidates=names, hint=did_you_mean(shown, sorted(plain))
            )
        return found[0]


def _same(left: str | None, right: str | None) -> bool:
    return left is not None and right is not None and left.casefold() == right.casefold()
