"""Which plans have been lowered, for whom."""

from __future__ import annotations

from collections import ChainMap, defaultdict
from collections.abc import Collection, Iterator, MutableMapping

from thalweg.algebra.plan import Plan
from thalweg.kernel.pipeline.lower import Known
from thalweg.kernel.pipeline.settings import Settings
from thalweg.kernel.pipeline.shape import remembers_nothing


class PlaceMap(MutableMapping[Plan, int]):
    """Places by plan, which can be forgotten by place."""

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
        """The node there is no more."""
        for plan in self._plans.pop(place, ()):
            del self._places[plan]


class OwnAndShared(ChainMap[Plan, int]):
    """Plans that remember nothing are everybody's; the others belong to those who began together."""

    def __init__(self, own: PlaceMap, everybodys: PlaceMap) -> None:
        super().__init__(own, everybodys)

    def __setitem__(self, plan: Plan, place: int) -> None:
        self.maps[remembers_nothing(plan)][plan] = place


class SharedPlaces:
    """What is known of all plans, and of those of each birth that is not over."""

    def __init__(self) -> None:
        self._everybodys = (PlaceMap(), PlaceMap())
        self._own: dict[tuple[int, Settings], tuple[PlaceMap, PlaceMap, PlaceMap]] = {}

    def known(self, birth: int, settings: Settings) -> Known:
        """What a query of a birth that is run with some settings may refer to."""
        own = self._own.setdefault((birth, settings), (PlaceMap(), PlaceMap(), PlaceMap()))
        places, unexpired, numbered = own
        return Known(OwnAndShared(places, self._everybodys[0]), OwnAndShared(unexpired, self._everybodys[1]), numbered)

    def forget(self, place: int) -> None:
        """Nobody may refer to the node there any more."""
        for places in (*self._everybodys, *(own for several in self._own.values() for own in several)):
            places.forget(place)

    def end_births(self, but: Collection[int] = ()) -> None:
        """Who comes now has seen less than those before, and may share only what is everybody's."""
        self._own = {key: own for key, own in self._own.items() if key[0] in but}
