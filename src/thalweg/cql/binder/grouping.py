"""Expressions above a GROUP BY: they may use the keys and aggregates, nothing else of the input."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from thalweg.algebra.expressions import Aggregate, Column, Expression, case, columns_of, literal
from thalweg.algebra.plan import GroupBy, Named, NamedAggregate, Plan
from thalweg.core.errors import PlanError
from thalweg.cql.binder.context import Context
from thalweg.cql.binder.expressions import ExpressionBinder
from thalweg.cql.binder.functions import find_aggregate
from thalweg.cql.binder.scope import NameScope


def is_aggregate_call(context: Context, node: exp.Expr) -> bool:
    """Whether a node itself is an aggregate."""
    if isinstance(node, exp.Filter):
        return True
    return isinstance(node, exp.Anonymous) and find_aggregate(context.catalog, node.name) is not None


def has_aggregate(context: Context, node: exp.Expr | None) -> bool:
    """Whether a node contains an aggregate, not counting its subqueries."""
    if node is None or isinstance(node, exp.Select | exp.Subquery | exp.Window):
        return False
    return is_aggregate_call(context, node) or any(has_aggregate(context, part) for part in node.iter_expressions())


class GroupedBinder(ExpressionBinder):
    """Binds SELECT, HAVING and ORDER BY of a grouped query, and collects the aggregates they use."""

    def __init__(self, context: Context, scope: NameScope, keys: Sequence[Named]) -> None:
        super().__init__(context, scope)
        self.below = ExpressionBinder(context, scope)
        self.keys = tuple(keys)
        self.aggregates: list[NamedAggregate] = []

    def _bind(self, node: exp.Expr) -> Expression:
        if is_aggregate_call(self.context, node):
            return self._aggregate(node)
        if not has_aggregate(self.context, node):
            bound = self.below.bind(node)
            for i, key in enumerate(self.keys):
                if key.expression == bound:
                    return Column(i, bound.type, key.name)
            if not columns_of(bound):
                return bound
            if isinstance(node, exp.Column):
                raise PlanError(
                    f"{node.name} is neither in GROUP BY nor inside an aggregate",
                    candidates=[k.name for k in self.keys],
                    hint=f"add it to GROUP BY, or write MAX({node.name})",
                )
        return super()._bind(node)

    def _aggregate(self, node: exp.Expr) -> Expression:
        condition: Expression | None = None
        if isinstance(node, exp.Filter):
            condition = self.below.bind_condition(node.expression.this, "FILTER")
            node = node.this
            if not is_aggregate_call(self.context, node):
                raise PlanError("FILTER belongs to an aggregate")
        function = find_aggregate(self.context.catalog, node.name)
        assert function is not None
        name = str(function).upper()
        arguments, distinct = node.expressions, False
        if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
            arguments, distinct = arguments[0].expressions, True
        if len(arguments) != 1:
            raise PlanError(f"{name} takes one argument, got {len(arguments)}")
        star = isinstance(arguments[0], exp.Star)
        if star and distinct:
            raise PlanError(f"{name}(DISTINCT *) is not part of CQL", hint="name a column")
        argument = None if star else self.below.bind(arguments[0])
        if condition is not None:  # FILTER (WHERE c) hides an argument where c is not true
            argument = case([(condition, literal(1) if argument is None else argument)])
            if star and function != "count":
                raise PlanError(f"{name}(*) has no meaning")
        return self._collect(Aggregate.of(function, argument, distinct))

    def _collect(self, aggregate: Aggregate) -> Column:
        for i, known in enumerate(self.aggregates):
            if known.aggregate == aggregate:
                return Column(len(self.keys) + i, aggregate.type, known.name)
        self.aggregates.append(NamedAggregate(aggregate, aggregate.function))
        return Column(len(self.keys) + len(self.aggregates) - 1, aggregate.type, aggregate.function)

    def group_by(self, child: Plan) -> GroupBy:
        """The operator that computes the keys and every aggregate collected so far."""
        return GroupBy(child, self.keys, tuple(self.aggregates))
