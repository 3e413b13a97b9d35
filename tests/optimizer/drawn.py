"""Plans in which the rewrite rules find something to do: the shapes of their left-hand sides over drawn inputs."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from optimizer.pieces import KINDS, PieceDrawer
from strategies.catalog import catalog, catalog_of
from strategies.dice import Dice
from strategies.histories import histories
from strategies.windows import a_window
from thalweg.algebra.expressions import FALSE, TRUE, Aggregate, column
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
    Plan,
    Project,
    RStream,
    Select,
    SemiJoin,
    TopK,
    Union,
    Windowed,
)
from thalweg.algebra.windows import Landmark, Range
from thalweg.reference.history import History

FAMILIES = ("selection", "projection", "windows", "duplicates", "negation", "nothing")


@st.composite
def rule_cases(draw: st.DrawFn, family: str | None = None) -> tuple[Plan, History]:
    """A plan that some rule is likely to apply to, and what happens to the streams and relations that it reads.

    `family` is one of FAMILIES if it matters.
    """
    dice = Dice(draw)
    plan = RuleDrawer(dice, catalog(), in_sql=False).shape(family or dice.pick(FAMILIES))
    return plan, draw(histories(catalog_of(plan), max_size=16))


class RuleDrawer(PieceDrawer):
    """Draws left-hand sides of rules, alone or below other operators."""

    def shape(self, family: str) -> Plan:
        """A left-hand side, often with something above that depends on its dates or drops some of its columns."""
        made: dict[str, Callable[[], Plan]] = {
            "selection": self._selection,
            "projection": self._projection,
            "windows": self._same_windows,
            "duplicates": self._duplicates,
            "negation": self._negated,
            "nothing": self._empty,
        }
        plan = made[family]()
        match self._dice.number(0, 9):
            case 9:
                return RStream(plan)
            case 8:
                return self._projected(plan)
            case 7:
                return GroupBy(plan, self._named(plan.schema, 1, 2), ())
            case 6:
                return self._selected(plan)
            case 5:
                return Negation(plan, self.small(), ((0, 0),)) if self._starts_alike(plan) else Distinct(plan)
            case 4:
                return self._join_on_first(plan, self.small(), self._dice.pick(KINDS))
            case _:
                return plan

    def _selection(self) -> Plan:
        made: list[Callable[[], Plan]] = [
            lambda: self._narrowed(self.small()),
            lambda: self._projected(self.small()),
            lambda: Union(one := self.small(), self._conformed(self.small(), one.schema.types)),
            lambda: self._windowed(self.stream(self._dice.number(0, 1))),
            self._partitioned,
            self._any_join,
            self._any_join,
            self._any_join,
            self._semi,
            lambda: Distinct(self.small()),
            self._grouped,
            self._negation_on_some,
            self._negation_on_some,
            lambda: Intersect(one := self.small(), self._conformed(self.small(), one.schema.types)),
            lambda: IStream(self.small()),
            lambda: DStream(self.small()),
            lambda: RStream(self.small()),
            lambda: TopK(self.small(), (), 2),
        ]
        plan = self._dice.pick(made)()
        return Select(plan, TRUE) if self._dice.chance(12) else self._narrowed(plan)

    def _projection(self) -> Plan:
        made: list[Callable[[], Plan]] = [
            lambda: self._projected(self.small()),
            lambda: Union(one := self.small(), self._conformed(self.small(), one.schema.types)),
            lambda: self._windowed(self.stream(self._dice.number(0, 1))),
            self._any_join,
            self._any_join,
            self._semi,
            lambda: self._group_by(1, exact=True),
            lambda: self._selected(self._group_by(1, exact=True)),
        ]
        below = self._dice.pick(made)()
        if self._dice.chance(4):
            return GroupBy(below, self._named(below.schema, 1, 2), ())
        return self._projected(below)

    def _same_windows(self) -> Plan:
        stream = self.stream(self._dice.number(0, 1))
        other = self._conformed(self.stream(0), stream.schema.types)
        window = self._dice.pick([a_window(self._dice, stream.schema), Range(1), Range(3), Landmark()])
        return Union(Windowed(stream, window), Windowed(other, window))

    def _duplicates(self) -> Plan:
        made: list[Callable[[], Plan]] = [
            self._any_join,
            self._semi,
            lambda: self._shown(self._join_on_first(self.small(), self.small(), JoinKind.INNER)),
            lambda: Union(one := Distinct(self.small()), self._conformed(self.small(), one.schema.types)),
            lambda: self._projected(Distinct(self.small())),
            self._meeting_nrr,
            lambda: self._group_by(1, exact=True),
            self._partitioned,
            lambda: Join(one := self._one_per_key(), two := self._one_per_key(), self._equal_firsts(one, two)),
        ]
        return Distinct(self._dice.pick(made)())

    def _shown(self, plan: Plan) -> Plan:
        """All columns but perhaps the first of the right side, in another order."""
        order = list(range(len(plan.schema)))[::-1]
        left = plan.left if isinstance(plan, Join) else plan
        if self._dice.chance(2):
            order.remove(len(left.schema))
        return Project(plan, tuple(Named(column(plan.schema, i), f"c{i}") for i in order))

    def _negated(self) -> Plan:
        if self._dice.chance(2):
            anti = SemiJoin(one := self.small(), two := self.small(), self._equal_firsts(one, two), anti=True)
            match self._dice.number(0, 2):
                case 2:
                    return SemiJoin(anti, other := self.small(), self._equal_firsts(anti, other))
                case 1:
                    return Join(other := self.small(), anti, self._equal_firsts(other, anti))
            return Join(anti, other := self.small(), self._equal_firsts(anti, other))
        negation = self._negation_on_some()
        if self._dice.chance(3):
            return self._narrowed(negation)
        other = self._one_per_key() if self._dice.chance(2) else self.small()
        if self._dice.chance(3):
            return Join(other, negation, self._equal_firsts(other, negation))
        return Join(negation, other, self._equal_firsts(negation, other))

    def _empty(self) -> Plan:
        """An operator with an input that has no tuples, or that is none by itself."""
        none, other = Select(self.small(), FALSE), self.small()
        turned = self._dice.chance(2)
        left, right = (other, none) if turned else (none, other)
        conformed = self._conformed(right, left.schema.types)
        made: list[Callable[[], Plan]] = [
            lambda: Union(left, conformed),
            lambda: Intersect(left, conformed),
            lambda: Negation(left, right, ((0, 0),)),
            lambda: self._join_on_first(left, right, self._dice.pick(KINDS)),
            lambda: SemiJoin(left, right, self._equal_firsts(left, right), self._dice.chance(2)),
            lambda: Join(other, self.small(), FALSE, self._dice.pick(KINDS)),
            lambda: Distinct(self._projected(none)),
            lambda: IStream(none),
            lambda: RStream(none),
            lambda: DStream(self.stream(1)),
            lambda: TopK(other, (), self._dice.pick([0, 1])),
            lambda: GroupBy(none, (), (NamedAggregate(Aggregate.of("count"), "n"),)),
            lambda: GroupBy(none, self._named(none.schema, 1, 1), ()),
            lambda: self._windowed(Union(stream := self.stream(0), Select(stream, FALSE))),
        ]
        return self._dice.pick(made)()
