"""Scalar expressions: one method per kind of syntax node."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from thalweg.algebra.expressions import NULL, Expression, and_, call, case, cast, chain, literal
from thalweg.algebra.expressions.build import require_boolean, user_call
from thalweg.algebra.expressions.functions import DATE_TRUNC_UNITS
from thalweg.algebra.expressions.nodes import Literal
from thalweg.core.errors import NameNotFoundError, PlanError, TypeMismatchError, did_you_mean
from thalweg.core.time import parse_duration, parse_timestamp, unit_ticks
from thalweg.core.types import INT64_MAX, INT64_MIN, TYPE_NAMES, DataType
from thalweg.cql.binder.context import Context
from thalweg.cql.binder.functions import ALIASES, BINARY, CALLABLE, CLOCKS, FIELDS, all_functions, find_aggregate
from thalweg.cql.binder.scope import NameScope

_LONG = 64  # parts of a chain of AND or OR; a longer one is bound part by part, for it may exceed Python's stack


class ExpressionBinder:
    """Binds scalar syntax against a scope. Aggregates are refused here; see `grouping.py`."""

    def __init__(self, context: Context, scope: NameScope) -> None:
        self.context = context
        self.scope = scope

    def bind(self, node: exp.Expr) -> Expression:
        """The expression that `node` means; an error points at `node`."""
        with self.context.at(node):
            return self._bind(node)

    def bind_condition(self, node: exp.Expr, where: str) -> Expression:
        """A condition: must be BOOLEAN."""
        bound = self.bind(node)
        with self.context.at(node):
            return require_boolean(bound, where)

    def bind_all(self, nodes: Sequence[exp.Expr]) -> list[Expression]:
        """Several expressions."""
        return [self.bind(n) for n in nodes]

    def _bind(self, node: exp.Expr) -> Expression:
        if isinstance(node, exp.And | exp.Or) and len(parts := _chained(node)) > _LONG:
            return chain(BINARY[type(node)], self.bind_all(parts))
        if (function := BINARY.get(type(node))) is not None:
            return call(function, self.bind(node.this), self.bind(node.expression))
        match node:
            case exp.Paren():
                return self.bind(node.this)
            case exp.Column():
                return self._column(node)
            case exp.Literal() | exp.Null() | exp.Boolean() | exp.Interval():
                return _constant(node)
            case exp.Neg():
                return self._negate(node)
            case exp.Not():
                return call("not", self.bind_condition(node.this, "NOT"))
            case exp.Is():
                return self._is(node)
            case exp.NullSafeEQ():
                return call("not", call("is_distinct", self.bind(node.this), self.bind(node.expression)))
            case exp.Like() | exp.ILike():
                return self._like(node)
            case exp.Between():
                return self._between(node)
            case exp.In():
                return self._in_list(node)
            case exp.Case():
                return self._case(node)
            case exp.Cast() | exp.TryCast():
                return self._cast(node)
            case exp.Extract():
                return self._extract(node)
            case exp.Trim() | exp.Substring() | exp.StrPosition():
                return self._special_form(node)
            case exp.Anonymous():
                return self._function(node)
        raise _refusal(node)

    def _column(self, node: exp.Column) -> Expression:
        if node.name.lower() in CLOCKS and not self.scope.find(node.name, node.table or None):
            raise _clock_refusal(node.name)
        return self.scope.resolve(node.name, node.table or None).to_expression()

    def _negate(self, node: exp.Neg) -> Expression:
        inner = self.bind(node.this)
        if isinstance(inner, Literal) and isinstance(inner.value, int | float) and inner.type is not DataType.BOOLEAN:
            return Literal(-inner.value, inner.type)
        return call("negate", inner)

    def _is(self, node: exp.Is) -> Expression:
        subject = self.bind(node.this)
        match node.expression:
            case exp.Null():
                return call("is_null", subject)
            case exp.Boolean(this=bool() as wanted):
                return call("not", call("is_distinct", subject, literal(wanted)))
        raise PlanError("IS takes NULL, TRUE, FALSE or DISTINCT FROM")

    def _like(self, node: exp.Like | exp.ILike) -> Expression:
        operands = self.bind_all([node.this, node.expression])
        if isinstance(node, exp.ILike):
            operands = [call("lower", operand) for operand in operands]
        found = call("like", *operands)
        return call("not", found) if node.args.get("negate") else found

    def _between(self, node: exp.Between) -> Expression:
        subject = self.bind(node.this)
        low, high = self.bind(node.args["low"]), self.bind(node.args["high"])
        return and_([call(">=", subject, low), call("<=", subject, high)])

    def _in_list(self, node: exp.In) -> Expression:
        if node.args.get("query") is not None:
            raise _refusal(node)
        return call("in", self.bind(node.this), *self.bind_all(node.expressions))

    def _case(self, node: exp.Case) -> Expression:
        subject = self.bind(node.this) if node.this else None
        branches = []
        for branch in node.args["ifs"]:
            test = self.bind(branch.this)
            with self.context.at(branch.this):
                condition = require_boolean(test, "CASE WHEN") if subject is None else call("=", subject, test)
            branches.append((condition, self.bind(branch.args["true"])))
        default = node.args.get("default")
        return case(branches, self.bind(default) if default is not None else NULL)

    def _cast(self, node: exp.Cast) -> Expression:
        name = node.to.sql().upper().split("(")[0]
        if name not in TYPE_NAMES:
            raise TypeMismatchError(
                f"there is no type {name}", candidates=("BOOLEAN", "INT", "DOUBLE", "STRING", "TIMESTAMP")
            )
        wanted, operand = TYPE_NAMES[name], self.bind(node.this)
        if isinstance(operand, Literal) and isinstance(operand.value, str) and wanted is DataType.TIMESTAMP:
            return Literal(parse_timestamp(operand.value), wanted)  # TIMESTAMP '...' is a constant
        return cast(operand, wanted)

    def _extract(self, node: exp.Extract) -> Expression:
        field = node.this.name.lower()
        if field not in FIELDS:
            raise NameNotFoundError(f"EXTRACT knows no field {field.upper()}", candidates=(f.upper() for f in FIELDS))
        return call(FIELDS[field], self.bind(node.expression))

    def _special_form(self, node: exp.Trim | exp.Substring | exp.StrPosition) -> Expression:
        match node:
            case exp.Substring():
                parts = [node.this, node.args.get("start"), node.args.get("length")]
                return call("substring", *self.bind_all([p for p in parts if p is not None]))
            case exp.StrPosition():
                return call("strpos", self.bind(node.this), self.bind(node.args["substr"]))
            case _:
                if node.expression:
                    raise PlanError("TRIM takes off blanks only", hint="REPLACE(text, 'x', '') takes off characters")
                side = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or ""), "trim")
                return call(side, self.bind(node.this))

    def _function(self, node: exp.Anonymous) -> Expression:
        name = node.name.lower()
        name = ALIASES.get(name, name)
        if find_aggregate(self.context.catalog, name) is not None:
            raise PlanError(
                f"the aggregate {name.upper()} cannot stand here",
                hint="aggregates belong in SELECT, HAVING and ORDER BY, not inside WHERE, ON, GROUP BY or each other",
            )
        args = self.bind_all(node.expressions)
        match name:
            case "if":
                if len(args) not in (2, 3):
                    raise TypeMismatchError("IF takes a condition and one or two values")
                return case([(args[0], args[1])], args[2] if len(args) == 3 else NULL)
            case clock if clock in CLOCKS:
                raise _clock_refusal(name)
            case "date_trunc":
                _check_trunc_unit(args)
        users = self.context.catalog.function(name)
        if users is not None:
            return user_call(users, args)
        if name not in CALLABLE and name != "%":
            known = all_functions(self.context.catalog)
            meant = did_you_mean(node.name, known)
            raise NameNotFoundError(
                f"there is no function {node.name.upper()}", candidates=() if meant else known, hint=meant
            )
        return call(name, *args)


def _constant(node: exp.Literal | exp.Null | exp.Boolean | exp.Interval) -> Literal:
    match node:
        case exp.Null():
            return NULL
        case exp.Boolean():
            return literal(bool(node.this))
        case exp.Interval():
            return _interval(node)
    if node.is_string:
        return literal(str(node.this))
    text = str(node.this)
    if text.isdigit():
        value = int(text)
        if not INT64_MIN <= value <= INT64_MAX:
            raise TypeMismatchError(f"{text} does not fit into a BIGINT", hint=f"write {text}.0 for a DOUBLE")
        return literal(value)
    return literal(float(text))


def _interval(node: exp.Interval) -> Literal:
    unit = node.args.get("unit")
    if unit is None:
        return Literal(parse_duration(node.this.name), DataType.INTERVAL)
    ticks = unit_ticks(unit.name)
    if ticks is None:
        raise TypeMismatchError(
            f"an INTERVAL cannot be in {unit.name}",
            hint="months and years have no fixed length; units: MICROSECONDS to DAYS",
        )
    try:
        return Literal(round(float(node.this.name) * ticks), DataType.INTERVAL)
    except ValueError:
        raise TypeMismatchError(f"an INTERVAL wants a number, got {node.this.name!r}") from None


def _check_trunc_unit(args: Sequence[Expression]) -> None:
    unit = args[0] if args else None
    if not isinstance(unit, Literal) or str(unit.value).lower() not in DATE_TRUNC_UNITS:
        raise TypeMismatchError("DATE_TRUNC wants a constant unit first", candidates=DATE_TRUNC_UNITS)


def _clock_refusal(name: str) -> PlanError:
    return PlanError(
        f"{name.upper()} is not a constant: a standing query's answer may depend on time through windows only",
        hint="use a window such as [RANGE 5 MINUTES], or the stream's own timestamp column",
    )


def _refusal(node: exp.Expr) -> PlanError:
    if isinstance(node, exp.In | exp.Exists):
        return PlanError(
            "IN and EXISTS with a subquery may stand only as a whole condition of WHERE, alone or joined by AND",
            hint="join the stream with the subquery in FROM, or split the query with UNION ALL",
        )
    if isinstance(node, exp.Subquery | exp.Select):
        return PlanError(
            "a subquery cannot stand for a single value", hint="put it into FROM and join with it, or use IN or EXISTS"
        )
    if isinstance(node, exp.Window):
        return PlanError(
            "OVER (...) is not part of CQL: windows belong to streams",
            hint="put the window behind the stream: FROM s [ROWS 10], and aggregate over that",
        )
    if isinstance(node, exp.Star):
        return PlanError("* can stand alone in SELECT, or in COUNT(*)")
    if isinstance(node, exp.Filter | exp.Distinct):
        return PlanError("FILTER and DISTINCT belong to aggregates")
    return PlanError(f"{type(node).__name__.upper()} is not part of CQL", hint="see docs/grammar.md")


def _chained(node: exp.And | exp.Or) -> list[exp.Expr]:
    """The parts of a chain of one connective, from left to right; those in parentheses stay whole."""
    found: list[exp.Expr] = []
    left: exp.Expr = node
    while type(left) is type(node):
        found.append(left.expression)
        left = left.this
    return [left, *reversed(found)]
