"""Which plans have been lowered to which nodes, and which queries may share them."""

from __future__ import annotations

from collections import ChainMap, defaultdict
from collections.abc import Collection, Iterator, MutableMapping

from thalweg.algebra.plan import Plan
from thalweg.kernel.pipeline.lower import LoweredPlans
from thalweg.kernel.pipeline.plan_properties import is_stateless_plan
from thalweg.kernel.pipeline.settings import Settings


class PlaceMap(MutableMapping[Plan, int]):
    """The place of each plan's node; entries can be removed by place."""

    def __init__(self) -> None:
        self._places: dict[Plan, int] = {}
        self._plans: defaultdict[int, list[Plan]] = defaultdict(list)

    def __getitem__(self, plan: Plan) -> int:
        return self._places[plan]

    def __setitem__(self, plan: Plan, place: int) -> None:
        self._places[plan] = place
        self._plans[place].append(plan)

    def __delitem__(self, plan: Plan) -> None:
        self._plans[self._places.pop(plan)].remove(plan)

    def __iter__(self) -> Iterator[Plan]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def forget(self, place: int) -> None:
        """Remove the plans whose node was there."""
        for plan in self._plans.pop(place, ()):
            del self._places[plan]


class OwnAndShared(ChainMap[Plan, int]):
    """Plans without state belong to all queries, plans with state to the queries of one cohort."""

    def __init__(self, own: PlaceMap, common: PlaceMap) -> None:
        super().__init__(own, common)

    def __setitem__(self, plan: Plan, place: int) -> None:
        self.maps[is_stateless_plan(plan)][plan] = place


class SharedPlaces:
    """The places of plans without state, and of the plans of each open cohort."""

    def __init__(self) -> None:
        self._common = (PlaceMap(), PlaceMap())
        self._own: dict[tuple[int, Settings], tuple[PlaceMap, PlaceMap, PlaceMap]] = {}

    def known(self, cohort: int, settings: Settings) -> LoweredPlans:
        """The plans that a query of this cohort with these settings may share."""
        own = self._own.setdefault((cohort, settings), (PlaceMap(), PlaceMap(), PlaceMap()))
        places, unexpired, numbered = own
        return LoweredPlans(OwnAndShared(places, self._common[0]), OwnAndShared(unexpired, self._common[1]), numbered)

    def forget(self, place: int) -> None:
        """Forget the plans of a node that was removed."""
        for places in (*self._common, *(own for several in self._own.values() for own in several)):
            places.forget(place)

    def close_cohorts(self, but: Collection[int] = ()) -> None:
        """Close all cohorts but some: later queries have had less input, and share only plans without state."""
        self._own = {key: own for key, own in self._own.items() if key[0] in but}
