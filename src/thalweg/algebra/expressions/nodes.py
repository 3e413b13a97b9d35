"""The five kinds of scalar expression.

Nodes are frozen and compared by structure. A column is a position in its input's schema; its name is only for
people and takes no part in equality. Build calls and casts with `build.call` and `build.cast`, which check types.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from thalweg.core.rows import Value
from thalweg.core.time import format_duration, format_timestamp
from thalweg.core.types import DataType

_HASH = "_hash"


@dataclass(frozen=True)
class Column:
    """The value at position `index` of the input row."""

    index: int
    type: DataType
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.name or f"#{self.index}"


@dataclass(frozen=True)
class Literal:
    """A constant. TIMESTAMP and INTERVAL values are int microseconds."""

    value: Value
    type: DataType

    # 1, 1.0 and TRUE are equal in Python but not in SQL.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and (self.type, type(self.value), self.value) == (
            other.type,
            type(other.value),
            other.value,
        )

    def __hash__(self) -> int:
        return hash((self.type, self.value))

    def __str__(self) -> str:
        if self.value is None:
            return "NULL"
        if isinstance(self.value, str):
            return "'" + self.value.replace("'", "''") + "'"
        if self.type is DataType.TIMESTAMP:
            return f"TIMESTAMP '{format_timestamp(int(self.value))}'"
        if self.type is DataType.INTERVAL:
            return f"INTERVAL {format_duration(int(self.value))}"
        if isinstance(self.value, bool):
            return str(self.value).upper()
        return str(self.value)


@dataclass(frozen=True)
class Call:
    """A function or operator of the table in `functions.py`, applied to arguments of exactly its types."""

    function: str
    args: tuple[Expression, ...]
    type: DataType

    def __hash__(self) -> int:
        """Computed once: rules look expressions up again and again, and an IN may have thousands of members."""
        known: int | None = self.__dict__.get(_HASH)
        if known is None:
            known = self.__dict__[_HASH] = hash((self.function, self.args, self.type))
        return known

    def __getstate__(self) -> dict[str, object]:
        """Pickle without the hash, which is another one in another process."""
        return {"function": self.function, "args": self.args, "type": self.type}

    def __str__(self) -> str:
        shown = [str(a) for a in self.args]
        nested = [f"({s})" if _is_infix(a) else s for a, s in zip(self.args, shown, strict=True)]
        match self.function:
            case name if name in INFIX:
                return f" {name.upper()} ".join(nested)
            case "not":
                return f"NOT {nested[0]}"
            case "negate":
                return f"-{nested[0]}"
            case "is_null":
                return f"{nested[0]} IS NULL"
            case "in":
                return f"{nested[0]} IN ({', '.join(shown[1:])})"
            case name:
                return f"{name.upper()}({', '.join(shown)})"


@dataclass(frozen=True)
class Case:
    """The value of the first branch whose condition is true, else `default`."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression
    type: DataType

    def __str__(self) -> str:
        whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in self.branches)
        return f"CASE {whens} ELSE {self.default} END"


@dataclass(frozen=True)
class Cast:
    """`operand` turned into `type`; NULL where that is impossible."""

    operand: Expression
    type: DataType

    def __str__(self) -> str:
        return f"CAST({self.operand} AS {self.type})"


Expression = Column | Literal | Call | Case | Cast

INFIX = frozenset({"=", "<>", "<", "<=", ">", ">=", "and", "or", "+", "-", "*", "/", "%", "||", "like"})


def _is_infix(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function in INFIX | {"not", "is_null", "in"}
