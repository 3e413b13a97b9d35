"""Plans of every shape: each operator over each, each window anywhere, and the shapes of REQUIREMENTS' "Traps".

`plans()` draws any plan; `cases()` a plan with a history of what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from strategies.catalog import catalog, catalog_of
from strategies.conditions import (
    aggregates,
    any_scalar,
    atoms,
    join_conditions,
    name_for,
    positions,
    predicates,
)
from strategies.histories import histories
from strategies.windows import windows
from thalweg.algebra.catalog import Catalog
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    JoinKind,
    Named,
    NamedAggregate,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    RStream,
    Select,
    SemiJoin,
    SortKey,
    StreamScan,
    TopK,
    Union,
    Windowed,
)
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.reference.history import History


@st.composite
def plans(draw: st.DrawFn, of: Catalog | None = None, size: int = 5) -> Plan:
    """A plan of at most about `size` operators above its leaves."""
    drawer = _Drawer(draw, of or catalog())
    return drawer.plan(draw(st.integers(0, size)), root=True)


@st.composite
def cases(draw: st.DrawFn, size: int = 5, max_size: int = 14) -> tuple[Plan, History]:
    """A plan, and what happens to the streams and relations that it reads."""
    plan = draw(plans(size=size))
    return plan, draw(histories(catalog_of(plan), max_size=max_size))


class _Drawer:
    """Draws operators top down; `budget` is how many more may stand below."""

    def __init__(self, draw: st.DrawFn, of: Catalog) -> None:
        self._draw = draw
        self._streams = [StreamScan(s) for s in of.streams]
        self._relations = [RelationScan(r) for r in of.relations if r.retroactive]
        self._nrrs = [RelationScan(r) for r in of.relations if not r.retroactive]

    def plan(self, budget: int, root: bool = False) -> Plan:
        """Any plan; deviations, whose last digit may differ between engines, only at the root."""
        if budget == 0:
            return self._leaf()
        operators: list[Callable[[int], Plan]] = [
            self._select, self._project, self._union, self._join, self._outer_join, self._semi_join, self._distinct,
            self._negation, self._intersect, self._top_k, self._window_over_derived, self.stream,
            lambda below: self._group_by(below, exact=not root),
        ]  # fmt: skip
        if self._nrrs:
            operators.append(self._nrr_join)
        return self._draw(st.sampled_from(operators))(budget - 1)

    def stream(self, budget: int) -> Plan:
        """A plan whose output is a stream."""
        if budget <= 0:
            return self._draw(st.sampled_from(self._streams))
        made: list[Callable[[], Plan]] = [
            lambda: IStream(self.plan(budget - 1)),
            lambda: self._selected(self.stream(budget - 1)),
            lambda: self._projected(self.stream(budget - 1)),
            lambda: self._joined(*self._two(budget - 1, self.stream), JoinKind.INNER),
            lambda: self._united(*self._two(budget - 1, self.stream)),
            lambda: DStream(self.plan(budget - 1)),
            lambda: RStream(self.plan(budget - 1)),
        ]
        if self._nrrs:
            made.append(lambda: self._met(self.stream(budget - 1)))
        return self._draw(st.sampled_from(made))()

    # leaves

    def _leaf(self) -> Plan:
        match self._draw(st.integers(0, 9)):
            case 9:
                return self.stream(0)
            case 8 if self._relations:
                return self._draw(st.sampled_from(self._relations))
            case _:
                return self._windowed(self.stream(0))

    def _windowed(self, stream: Plan) -> Plan:
        return Windowed(stream, self._draw(windows(stream.schema)))

    def _window_over_derived(self, budget: int) -> Plan:
        return self._windowed(self.stream(budget))

    # one input

    def _select(self, budget: int) -> Plan:
        return self._selected(self.plan(budget))

    def _selected(self, child: Plan) -> Plan:
        return Select(child, self._draw(predicates(child.schema)))

    def _project(self, budget: int) -> Plan:
        return self._projected(self.plan(budget))

    def _projected(self, child: Plan) -> Plan:
        return Project(child, tuple(self._named(child.schema, 1, 3)))

    def _distinct(self, budget: int) -> Plan:
        return Distinct(self.plan(budget))

    def _group_by(self, budget: int, exact: bool) -> Plan:
        child = self.plan(budget)
        keys = self._named(child.schema, 0, 2)
        drawn = self._draw(st.lists(aggregates(child.schema, exact), min_size=0 if keys else 1, max_size=2))
        named = [
            NamedAggregate(a, f"avg_{i}" if a.function == "avg" else name_for(a.argument, child.schema, f"a{i}"))
            if a.argument is not None
            else NamedAggregate(a, f"a{i}")
            for i, a in enumerate(drawn)
        ]
        return GroupBy(child, tuple(keys), tuple(named))

    def _top_k(self, budget: int) -> Plan:
        child = self.plan(budget)
        key = st.builds(SortKey, any_scalar(child.schema), st.booleans(), st.booleans())
        return TopK(child, tuple(self._draw(st.lists(key, max_size=2))), self._draw(st.integers(0, 3)))

    # two inputs

    def _two(self, budget: int, side: Callable[[int], Plan]) -> tuple[Plan, Plan]:
        left = self._draw(st.integers(0, max(0, budget)))
        return side(left), side(max(0, budget - left))

    def _union(self, budget: int) -> Plan:
        return self._united(*self._two(budget, self.plan))

    def _united(self, left: Plan, right: Plan) -> Plan:
        return Union(left, self._conformed(right, left.schema.types))

    def _intersect(self, budget: int) -> Plan:
        left, right = self._two(budget, self.plan)
        return Intersect(left, self._conformed(right, left.schema.types))

    def _negation(self, budget: int) -> Plan:
        left, right = self._two(budget, self.plan)
        if self._draw(st.integers(0, 2)) == 2:  # whole rows
            same = tuple((i, i) for i in range(len(left.schema)))
            return Negation(left, self._conformed(right, left.schema.types), same)
        chosen = self._draw(st.lists(st.integers(0, len(left.schema) - 1), min_size=1, max_size=2, unique=True))
        if any(not positions(right.schema, left.schema[i].type) for i in chosen):
            right = self._conformed(right, left.schema.types)
        on = [(i, self._draw(st.sampled_from(positions(right.schema, left.schema[i].type)))) for i in chosen]
        return Negation(left, right, tuple(on))

    def _join(self, budget: int) -> Plan:
        return self._joined(*self._two(budget, self.plan), JoinKind.INNER)

    def _outer_join(self, budget: int) -> Plan:
        kind = self._draw(st.sampled_from([JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL]))
        return self._joined(*self._two(budget, self.plan), kind)

    def _joined(self, left: Plan, right: Plan, kind: JoinKind) -> Plan:
        return Join(left, right, self._draw(join_conditions(left.schema, right.schema)), kind)

    def _semi_join(self, budget: int) -> Plan:
        left, right = self._two(budget, self.plan)
        condition = self._draw(join_conditions(left.schema, right.schema))
        return SemiJoin(left, right, condition, anti=self._draw(st.booleans()))

    def _nrr_join(self, budget: int) -> Plan:
        left = self.plan(budget)
        return self._met(left if _may_meet_nrr(left) else self._windowed(self.stream(0)))

    def _met(self, left: Plan) -> Plan:
        nrr: Plan = self._draw(st.sampled_from(self._nrrs))
        match self._draw(st.integers(0, 3)):
            case 3:
                nrr = self._selected(nrr)
            case 2:
                nrr = self._projected(nrr)
        condition = self._draw(join_conditions(left.schema, nrr.schema))
        return NrrJoin(left, nrr, condition, self._draw(st.sampled_from([JoinKind.INNER, JoinKind.LEFT])))

    # schemas

    def _named(self, schema: Schema, least: int, most: int) -> list[Named]:
        drawn = self._draw(st.lists(any_scalar(schema), min_size=least, max_size=most))
        return [Named(e, name_for(e, schema, f"c{i}")) for i, e in enumerate(drawn)]

    def _conformed(self, plan: Plan, types: Sequence[DataType]) -> Plan:
        """The plan projected to the given types, unless it has them."""
        if plan.schema.types == tuple(types):
            return plan
        drawn = [self._draw(atoms(plan.schema, type_)) for type_ in types]
        return Project(plan, tuple(Named(e, name_for(e, plan.schema, f"c{i}")) for i, e in enumerate(drawn)))


def _may_meet_nrr(plan: Plan) -> bool:
    """Whether nothing below takes rows back before they expire (strict non-monotonic); a plain, cautious reading."""
    match plan:
        case StreamScan() | Windowed() | IStream() | DStream() | RStream():
            return True
        case NrrJoin(left):
            return _may_meet_nrr(left)
        case Select() | Project() | Union() | Distinct() | GroupBy() | Join(kind=JoinKind.INNER):
            return all(map(_may_meet_nrr, plan.children))
        case _:
            return False
