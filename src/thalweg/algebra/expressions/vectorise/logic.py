"""Three-valued logic, comparison and choice on Arrow arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions.vectorise.datum import Datum, Kernel, is_double, nullify


def _is_distinct(a: Datum, b: Datum) -> Datum:
    return pc.coalesce(pc.not_equal(a, b), pc.xor(pc.is_null(a), pc.is_null(b)))


def _in(value: Datum, *members: Datum) -> Datum:
    if is_double(value) or not all(isinstance(m, pa.Scalar) for m in members):
        return reduce(pc.or_kleene, (pc.equal(value, m) for m in members))
    # A set of constants is looked up at once; doubles are not, because their hash distinguishes 0.0 from -0.0.
    known = pa.array([m for m in members if m.is_valid], value.type)
    found = nullify(pc.is_in(value, value_set=known), pc.is_null(value))
    return found if len(known) == len(members) else pc.or_kleene(found, pa.scalar(None, pa.bool_()))


def _extreme(pick: Callable[..., Datum]) -> Kernel:
    def kernel(*args: Datum) -> Datum:
        if pa.types.is_boolean(args[0].type):  # Arrow's function does not take booleans
            return pick(*(a.cast(pa.int8()) for a in args)).cast(pa.bool_())
        return pick(*args)

    return kernel


def _nullif(a: Datum, b: Datum) -> Datum:
    return nullify(a, pc.coalesce(pc.equal(a, b), pa.scalar(False)))


LOGIC: dict[str, Kernel] = {
    "and": pc.and_kleene,
    "or": pc.or_kleene,
    "not": pc.invert,
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "is_distinct": _is_distinct,
    "is_null": pc.is_null,
    "in": _in,
    "greatest": _extreme(pc.max_element_wise),
    "least": _extreme(pc.min_element_wise),
    "coalesce": pc.coalesce,
    "nullif": _nullif,
}
