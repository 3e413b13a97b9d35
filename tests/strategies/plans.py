"""Plans of every shape: each operator over each, each window anywhere, and the shapes of REQUIREMENTS' "Traps".

`plans()` draws any plan; `cases()` a plan with a history of what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from strategies.catalog import catalog, catalog_of
from strategies.conditions import (
    a_join_condition,
    a_multi_join_condition,
    a_predicate,
    a_user_aggregate,
    an_aggregate,
    an_atom,
    any_scalar,
    name_for,
    positions,
)
from strategies.dice import Dice
from strategies.histories import histories
from strategies.windows import a_window
from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import Aggregate
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    JoinKind,
    MultiJoin,
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

OPERATORS = (
    "window", "window over derived", "select", "project", "union", "join", "multi-join", "outer join", "semi-join",
    "distinct", "group-by", "negation", "intersect", "top-k", "NRR join", "istream", "dstream", "rstream",
    "derived stream",
)  # fmt: skip


@st.composite
def plans(
    draw: st.DrawFn, of: Catalog | None = None, size: int = 5, root: str | None = None, in_sql: bool = False
) -> Plan:
    """A plan of at most about `size` operators above its leaves; `root` is one of OPERATORS if it matters.

    `in_sql` leaves out aggregates that users define, which have no SQL.
    """
    dice = Dice(draw)
    return PlanDrawer(dice, of or catalog(), in_sql).root(dice.number(0, size), root or dice.pick(OPERATORS))


@st.composite
def cases(
    draw: st.DrawFn, size: int = 5, max_size: int = 20, root: str | None = None, in_sql: bool = False
) -> tuple[Plan, History]:
    """A plan, and what happens to the streams and relations that it reads."""
    plan = draw(plans(size=size, root=root, in_sql=in_sql))
    return plan, draw(histories(catalog_of(plan), max_size=max_size))


class PlanDrawer:
    """Draws operators top down; a `budget` is how many more may stand below."""

    def __init__(self, dice: Dice, of: Catalog, in_sql: bool) -> None:
        self._dice = dice
        self._in_sql = in_sql
        self._streams = [StreamScan(s) for s in of.streams]
        self._relations = [RelationScan(r) for r in of.relations if r.retroactive]
        self._nrrs = [RelationScan(r) for r in of.relations if not r.retroactive]

    def root(self, budget: int, operator: str) -> Plan:
        """A whole plan. Only here may deviations stand, whose last digit differs between engines."""
        if operator == "group-by":
            return self._group_by(budget - 1, exact=False)
        return self._operator(operator)(budget - 1)

    def plan(self, budget: int) -> Plan:
        """Any plan."""
        return self.leaf() if budget <= 0 else self._operator(self._dice.pick(OPERATORS))(budget - 1)

    def _operator(self, name: str) -> Callable[[int], Plan]:
        """What draws an operator, given the budget for what is below it."""
        if name == "NRR join" and not self._nrrs:
            name = "join"
        made: dict[str, Callable[[int], Plan]] = {
            "window": lambda _: self._windowed(self.stream(0)),
            "window over derived": lambda below: self._windowed(self.stream(below)),
            "select": lambda below: self._selected(self.plan(below)),
            "project": lambda below: self._projected(self.plan(below)),
            "union": lambda below: self._united(*self._two(below, self.plan)),
            "join": lambda below: self._joined(*self._two(below, self.plan), JoinKind.INNER),
            "multi-join": self._multi_join,
            "outer join": self._outer_join,
            "semi-join": self._semi_join,
            "distinct": lambda below: Distinct(self.plan(below)),
            "group-by": lambda below: self._group_by(below, exact=True),
            "negation": self._negation,
            "intersect": self._intersect,
            "top-k": self._top_k,
            "NRR join": self._nrr_join,
            "istream": lambda below: IStream(self.plan(below)),
            "dstream": lambda below: DStream(self.plan(below)),
            "rstream": lambda below: RStream(self.plan(below)),
            "derived stream": lambda below: self.stream(max(1, below)),
        }
        return made[name]

    def stream(self, budget: int) -> Plan:
        """A plan whose output is a stream."""
        if budget <= 0:
            return self._dice.pick(self._streams)
        below = budget - 1
        made: list[Callable[[], Plan]] = [
            lambda: self._selected(self.stream(below)),
            lambda: self._projected(self.stream(below)),
            lambda: self._joined(*self._two(below, self.stream), JoinKind.INNER),
            lambda: self._united(*self._two(below, self.stream)),
            lambda: IStream(self.plan(below)),
            lambda: DStream(self.plan(below)),
            lambda: RStream(self.plan(below)),
        ]
        if self._nrrs:
            made.append(lambda: self._met(self.stream(below)))
        return self._dice.pick(made)()

    def leaf(self) -> Plan:
        """A window over a stream; at times a whole stream or a relation."""
        match self._dice.number(0, 9):
            case 9:
                return self.stream(0)
            case 8 if self._relations:
                return self._dice.pick(self._relations)
            case _:
                return self._windowed(self.stream(0))

    # one input

    def _windowed(self, stream: Plan) -> Plan:
        return Windowed(stream, a_window(self._dice, stream.schema))

    def _selected(self, child: Plan) -> Plan:
        return Select(child, a_predicate(self._dice, child.schema))

    def _projected(self, child: Plan) -> Plan:
        return Project(child, self._named(child.schema, 1, 3))

    def _group_by(self, budget: int, exact: bool) -> Plan:
        child = self.plan(budget)
        keys = self._named(child.schema, 0, 2)
        drawn = self._dice.several(0 if keys else 1, 2, lambda: self._aggregate(child.schema, exact))
        return GroupBy(child, keys, tuple(_named_aggregate(a, child.schema, i) for i, a in enumerate(drawn)))

    def _aggregate(self, schema: Schema, exact: bool) -> Aggregate:
        if not self._in_sql and self._dice.chance(2):
            return a_user_aggregate(self._dice, schema)
        return an_aggregate(self._dice, schema, exact)

    def _top_k(self, budget: int) -> Plan:
        child = self.plan(budget)
        keys = self._dice.several(
            0, 2, lambda: SortKey(any_scalar(self._dice, child.schema), self._dice.chance(2), self._dice.chance(3))
        )
        return TopK(child, tuple(keys), self._dice.pick([2, 1, 3, 5, 0]))

    # two inputs

    def _two(self, budget: int, side: Callable[[int], Plan]) -> tuple[Plan, Plan]:
        left = self._dice.number(0, max(0, budget))
        return side(left), side(budget - left)

    def _united(self, left: Plan, right: Plan) -> Plan:
        return Union(left, self._conformed(right, left.schema.types))

    def _intersect(self, budget: int) -> Plan:
        left, right = self._two(budget, self.plan)
        return Intersect(left, self._conformed(right, left.schema.types))

    def _negation(self, budget: int) -> Plan:
        left, right = self._two(budget, self.plan)
        if self._dice.chance(3):  # whole rows
            same = tuple((i, i) for i in range(len(left.schema)))
            return Negation(left, self._conformed(right, left.schema.types), same)
        chosen = set(self._dice.several(1, 2, lambda: self._dice.number(0, len(left.schema) - 1)))
        if any(not positions(right.schema, left.schema[i].type) for i in chosen):
            right = self._conformed(right, left.schema.types)
        on = ((i, self._dice.pick(positions(right.schema, left.schema[i].type))) for i in sorted(chosen))
        return Negation(left, right, tuple(on))

    def _outer_join(self, budget: int) -> Plan:
        kind = self._dice.pick([JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL])
        return self._joined(*self._two(budget, self.plan), kind)

    def _joined(self, left: Plan, right: Plan, kind: JoinKind) -> Plan:
        return Join(left, right, a_join_condition(self._dice, left.schema, right.schema), kind)

    def _multi_join(self, budget: int) -> Plan:
        """Three or four inputs, seldom with much below; the same one may stand there twice."""
        inputs = [self.plan(budget - 2), *(self.leaf() for _ in range(self._dice.pick([2, 2, 3])))]
        if self._dice.chance(4):
            inputs[1] = inputs[2]
        return MultiJoin(tuple(inputs), a_multi_join_condition(self._dice, [plan.schema for plan in inputs]))

    def _semi_join(self, budget: int) -> Plan:
        left, right = self._two(budget, self.plan)
        return SemiJoin(left, right, a_join_condition(self._dice, left.schema, right.schema), self._dice.chance(2))

    def _nrr_join(self, budget: int) -> Plan:
        left = self.plan(budget)
        return self._met(left if _may_meet_nrr(left) else self._windowed(self.stream(0)))

    def _met(self, left: Plan) -> Plan:
        nrr: Plan = self._dice.pick(self._nrrs)
        nrr = self._dice.pick([lambda n: n, lambda n: n, self._selected, self._projected])(nrr)
        condition = a_join_condition(self._dice, left.schema, nrr.schema)
        return NrrJoin(left, nrr, condition, self._dice.pick([JoinKind.INNER, JoinKind.LEFT]))

    # schemas

    def _named(self, schema: Schema, least: int, most: int) -> tuple[Named, ...]:
        drawn = self._dice.several(least, most, lambda: any_scalar(self._dice, schema))
        return tuple(Named(e, name_for(e, schema, f"c{i}")) for i, e in enumerate(drawn))

    def _conformed(self, plan: Plan, types: Sequence[DataType]) -> Plan:
        """The plan projected to the given types, unless it has them."""
        if plan.schema.types == tuple(types):
            return plan
        drawn = [an_atom(self._dice, plan.schema, type_) for type_ in types]
        return Project(plan, tuple(Named(e, name_for(e, plan.schema, f"c{i}")) for i, e in enumerate(drawn)))


def _named_aggregate(aggregate: Aggregate, schema: Schema, position: int) -> NamedAggregate:
    if aggregate.function == "avg":
        return NamedAggregate(aggregate, f"avg_{position}")
    return NamedAggregate(aggregate, name_for(aggregate.argument, schema, f"a{position}"))


def _may_meet_nrr(plan: Plan) -> bool:
    """Whether nothing below takes rows back before they expire (strict non-monotonic); a plain, cautious reading."""
    match plan:
        case StreamScan() | Windowed() | IStream() | DStream() | RStream():
            return True
        case NrrJoin(left):
            return _may_meet_nrr(left)
        case Select() | Project() | Union() | Distinct() | GroupBy() | Join(kind=JoinKind.INNER) | MultiJoin():
            return all(map(_may_meet_nrr, plan.children))
        case _:
            return False
