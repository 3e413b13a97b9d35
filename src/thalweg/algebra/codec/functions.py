"""Users' functions in JSON: their names and types. The code is only in processes where they are registered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from thalweg.algebra.expressions import UserAggregate, UserFunction
from thalweg.core.errors import CheckpointError, UserFunctionError
from thalweg.core.types import DataType

Declared = Mapping[str, Any]


@dataclass(frozen=True)
class Functions:
    """The functions and aggregates of users that a process knows, by name."""

    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    aggregates: Mapping[str, UserAggregate] = field(default_factory=dict)

    @staticmethod
    def of(functions: Iterable[UserFunction | UserAggregate]) -> Functions:
        """These functions and aggregates, by name."""
        given = list(functions)
        return Functions(
            {str(each): each for each in given if isinstance(each, UserFunction)},
            {each.name.casefold(): each for each in given if isinstance(each, UserAggregate)},
        )

    def function(self, declared: Declared) -> UserFunction:
        """The function that a plan names; a CheckpointError if it is not known, or has other types."""
        known = self.functions.get(declared["name"])
        if known is None or any(describe(known)[part] != given for part, given in declared.items()):
            raise _unknown("function", declared, None if known is None else describe(known))
        return known

    def aggregate(self, declared: Declared) -> UserAggregate:
        """The aggregate that a plan names; a CheckpointError if it is not known, or has other types."""
        known = self.aggregates.get(declared["name"].casefold())
        if known is None or any(describe(known)[part] != given for part, given in declared.items()):
            raise _unknown("aggregate", declared, None if known is None else describe(known))
        return known

    def missing(self, names: Iterable[str]) -> list[str]:
        """The names under which no function or aggregate is registered."""
        return [name for name in names if name not in self.functions and name.casefold() not in self.aggregates]


NO_FUNCTIONS = Functions()


def describe(user: UserFunction | UserAggregate) -> dict[str, Any]:
    """The name and types of a function or an aggregate, as plans store them."""
    if isinstance(user, UserFunction):
        return {"name": str(user), "takes": [type_.value for type_ in user.takes], "returns": user.returns.value}
    takes = None if user.takes is None else user.takes.value
    return {"name": user.name, "takes": takes, "returns": user.returns.value, "arrays": user.arrays}


def _unknown(what: str, declared: Declared, known: Declared | None) -> CheckpointError:
    name, way_out = declared["name"].upper(), "register it with the engine, then start again"
    if known is None:
        return CheckpointError(f"a query calls the {what} {name}, which is not registered here", hint=way_out)
    return CheckpointError(
        f"a query calls the {what} {name} as {_types(declared)}, but the one registered here is {_types(known)}",
        hint="register the one that the query was made with, or drop the query",
    )


def _types(declared: Declared) -> str:
    takes = declared["takes"] or ""
    return f"({takes if isinstance(takes, str) else ', '.join(takes)}): {declared['returns']}"


# -- functions of which only the declaration is known


@dataclass(frozen=True)
class _Elsewhere:
    """A placeholder for code that is registered in another process: queries can be checked with it, but not run."""

    name: str

    def __call__(self, *args: Any) -> Any:
        raise UserFunctionError(
            f"{self.name.upper()} is only declared here, and cannot be computed",
            hint="register the function itself",
        )


class _StepsElsewhere(_Elsewhere):
    """The same for an incremental aggregate."""

    def _refuse(self, *args: Any) -> Any:
        return self(*args)

    zero = insert = delete = value = _refuse


def declaration(user: UserFunction | UserAggregate) -> dict[str, Any]:
    """A function or an aggregate as catalogues store it: enough to check queries that call it."""
    if isinstance(user, UserFunction):
        return describe(user) | {"cost": user.cost}
    return describe(user) | {"steps": user.is_incremental}


def declared_function(given: Declared) -> UserFunction:
    """A function of which only the declaration is known."""
    takes = [DataType(each) for each in given["takes"]]
    return UserFunction(given["name"], _Elsewhere(given["name"]), takes, DataType(given["returns"]), given["cost"])


def declared_aggregate(given: Declared) -> UserAggregate:
    """An aggregate of which only the declaration is known."""
    definition = (_StepsElsewhere if given["steps"] else _Elsewhere)(given["name"])
    takes = None if given["takes"] is None else DataType(given["takes"])
    return UserAggregate(given["name"], definition, takes, DataType(given["returns"]), given["arrays"])
