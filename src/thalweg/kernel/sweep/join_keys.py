"""The keys by which a join looks up partners, and the rest of its condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from thalweg.algebra.expressions import TRUE, Expression, Literal, and_, column, conjuncts, shift
from thalweg.algebra.plan import equalities
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane, from_lane, is_null
from thalweg.core.rows import Value
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.table import KeyTable
from thalweg.kernel.sweep.evaluate import Condition, Evaluator

_TIMES = (DataType.TIMESTAMP, DataType.INTERVAL)
_LONGEST_SHOWN = 60  # characters of a key's value in an error
NO_PARTNER = -1  # the code of a key with a NULL in an equality, which is never true


def rest_of(condition: Expression, left: Schema, right: Schema, pool: StringPool) -> Condition | None:
    """The part of a join's condition that is not an equality between the two sides; None if there is none."""
    rest = and_([part for part in conjuncts(condition) if not equalities(part, len(left))])
    return Condition(rest, left + right, pool) if rest != TRUE else None


class JoinKeys(Stateful, kind="join-keys/1"):
    """Dense codes for the keys of both sides: the condition's equalities, and column pairs where NULL equals NULL."""

    KEPT = ("_coder",)

    def __init__(
        self,
        left: Schema,
        right: Schema,
        condition: Expression,
        pool: StringPool,
        null_safe: Sequence[tuple[int, int]] = (),
    ) -> None:
        pairs = equalities(condition, len(left))
        left_key = [a for a, _ in pairs] + [column(left, i) for i, _ in null_safe]
        right_key = [shift(b, -len(left)) for _, b in pairs] + [column(right, j) for _, j in null_safe]
        self.sides = (tuple(left_key), tuple(right_key))
        self._left, self._right = Evaluator(left_key, left, pool), Evaluator(right_key, right, pool)
        self._coder = KeyTable.of_width(len(left_key))
        self._equalities = len(pairs)
        self._pool = pool

    def of_left(self, batch: Batch) -> Ints:
        """The codes of left tuples."""
        return self._codes(self._left, batch)

    def of_right(self, batch: Batch) -> Ints:
        """The codes of right tuples."""
        return self._codes(self._right, batch)

    def forget(self, named: Callable[[], Iterable[Ints]]) -> None:
        """Now and then forget the keys whose codes are not among those that `named` gives."""
        self._coder.forget(named)

    def shown(self, side: int, tuple_: Batch) -> str:
        """The key of one tuple of the left side (0) or right side (1), for people: k = 7."""
        lanes = (self._left, self._right)[side](tuple_.columns, len(tuple_))
        return " AND ".join(
            f"{key} = {_shown(lane, key.type, self._pool)}" for key, lane in zip(self.sides[side], lanes, strict=True)
        )

    def _codes(self, evaluate: Evaluator, batch: Batch) -> Ints:
        lanes = evaluate(batch.columns, len(batch))
        codes = self._coder.encode(lanes, len(batch))
        missing = [is_null(lane) for lane in lanes[: self._equalities]]
        return np.where(np.logical_or.reduce(missing), NO_PARTNER, codes) if missing else codes


def _shown(lane: Lane, type_: DataType, pool: StringPool) -> str:
    """The only value of a lane, shortened, and without characters that act on a terminal."""
    value: Value = None
    if not is_null(lane).any():  # a Literal has ints for times
        value = int(lane[0]) if type_ in _TIMES else from_lane(lane, type_, pool)[0].as_py()
    text = repr(value) if isinstance(value, str) else str(Literal(value, type_))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
