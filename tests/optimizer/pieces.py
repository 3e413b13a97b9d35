"""Small plans and conditions of which the left-hand sides of rewrite rules are made."""

from __future__ import annotations

from strategies.conditions import a_comparison, a_literal, a_predicate, an_atom, positions
from strategies.plans import PlanDrawer
from thalweg.algebra.expressions import FALSE, TRUE, Aggregate, Expression, Literal, call, column
from thalweg.algebra.plan import (
    GroupBy,
    Join,
    JoinKind,
    Named,
    NamedAggregate,
    Negation,
    NrrJoin,
    Plan,
    Project,
    Select,
    SemiJoin,
    Windowed,
)
from thalweg.algebra.windows import PartitionedRows, Range
from thalweg.core.schema import Schema
from thalweg.core.types import DataType

KINDS = [JoinKind.INNER, JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL]


class PieceDrawer(PlanDrawer):
    """Draws what rules look for: equalities of first columns, comparisons that imply each other, keys."""

    def small(self) -> Plan:
        """A plan of an operator or two, whose first column is a BIGINT."""
        plan = self.plan(self._dice.number(0, 1))
        if plan.schema[0].type is DataType.BIGINT:
            return plan
        first = an_atom(self._dice, plan.schema, DataType.BIGINT)
        return Project(plan, (Named(first, "k"), Named(column(plan.schema, 0), plan.schema[0].name)))

    def _starts_alike(self, plan: Plan) -> bool:
        return plan.schema[0].type is DataType.BIGINT

    def _narrowed(self, plan: Plan) -> Plan:
        """A selection by several comparisons, often of one column with constants, so that they say much alike."""
        return Select(plan, self._several_comparisons(plan.schema))

    def _several_comparisons(self, schema: Schema) -> Expression:
        parts = self._dice.several(1, 3, lambda: self._comparison(schema))
        result = parts[0]
        for part in parts[1:]:
            result = call("and", result, part)
        return result

    def _comparison(self, schema: Schema) -> Expression:
        first = column(schema, 0)
        match self._dice.number(0, 9):
            case 9:
                return self._dice.pick([TRUE, FALSE, Literal(None, DataType.BOOLEAN)])
            case 8:
                return call("in", first, a_literal(self._dice, first.type), a_literal(self._dice, first.type))
            case 7:
                return call("not", a_predicate(self._dice, schema))
            case 5 | 6:
                return call("not", call("is_null", column(schema, self._dice.number(0, len(schema) - 1))))
            case 2 | 3 | 4:
                return a_comparison(self._dice, schema)
            case _:
                function = self._dice.pick(["=", ">", "<=", "<>", ">=", "<"])
                return call(function, first, a_literal(self._dice, first.type))

    def _partitioned(self) -> Plan:
        stream = self.stream(self._dice.number(0, 1))
        return Windowed(stream, PartitionedRows((0,), self._dice.number(1, 2), self._dice.pick([None, Range(4)])))

    def _one_per_key(self) -> Plan:
        """A plan in which no two rows have the same first column."""
        stream = self._dice.pick(self._streams)
        if self._dice.chance(2):
            return Windowed(stream, PartitionedRows((0,), 1))
        child = self._windowed(stream)
        key, count = Named(column(child.schema, 0), "k"), NamedAggregate(Aggregate.of("count"), "n")
        return GroupBy(child, (key,), (count,))

    def _grouped(self) -> Plan:
        """A group-by whose first column is a key, seldom a global one."""
        child = self.small()
        keys = (Named(column(child.schema, 0), "k"), *self._named(child.schema, 0, 1))
        drawn = [self._aggregate(child.schema, exact=True) for _ in range(self._dice.number(0, 2))]
        aggregates = tuple(NamedAggregate(a, f"avg_{i}") for i, a in enumerate(drawn))
        return GroupBy(child, () if aggregates and self._dice.chance(4) else keys, aggregates)

    def _any_join(self) -> Plan:
        if self._dice.chance(4):
            return self._met(self._windowed(self.stream(self._dice.number(0, 1))))
        return self._join_on_first(self.small(), self.small(), self._dice.pick(KINDS))

    def _join_on_first(self, left: Plan, right: Plan, kind: JoinKind) -> Plan:
        """Mostly an equality of the first columns, perhaps with one more part, over one side or both."""
        if not self._starts_alike(left) or self._dice.chance(6):
            return self._joined(left, right, kind)
        return Join(left, right, self._equal_firsts(left, right), kind)

    def _equal_firsts(self, left: Plan, right: Plan) -> Expression:
        both = left.schema + right.schema
        equal = call("=", column(both, 0), column(both, len(left.schema)))
        return call("and", equal, self._comparison(both)) if self._dice.chance(3) else equal

    def _semi(self) -> Plan:
        left, right = self.small(), self.small()
        return SemiJoin(left, right, self._equal_firsts(left, right), self._dice.chance(2))

    def _meeting_nrr(self) -> Plan:
        """Tuples that may come again, and meet an NRR that has changed meanwhile."""
        stream = self._windowed(self._dice.pick(self._streams))
        left = Project(stream, (Named(column(stream.schema, 0), "k"),))
        nrr = self._dice.pick(self._nrrs)
        return NrrJoin(left, nrr, self._equal_firsts(left, nrr), self._dice.pick(KINDS[:2]))

    def _negation_on_some(self) -> Plan:
        left = self._one_per_key() if self._dice.chance(2) else self.small()
        right = self.small()
        return Negation(left, right, ((0, self._dice.pick(positions(right.schema, DataType.BIGINT))),))
