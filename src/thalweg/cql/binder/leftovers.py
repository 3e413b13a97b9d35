"""What the parser read and no binder would look at is refused, not dropped: sqlglot knows more SQL than CQL has."""

from __future__ import annotations

from sqlglot import exp

from thalweg.core.errors import PlanError
from thalweg.cql.binder.context import Context

# For each kind of node the parts that binding reads, or refuses with a better reason.
_READ: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        [
            *("with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "order", "limit"),
            *("offset", "qualify", "windows", "laterals", "connect", "into", "sample", "hint"),
        ]
    ),
    exp.Star: frozenset(),
    exp.Ordered: frozenset(["this", "desc", "nulls_first"]),
    exp.Limit: frozenset(["expression"]),
    exp.Order: frozenset(["expressions"]),
    exp.Group: frozenset(["expressions", "rollup", "cube", "grouping_sets", "totals", "all"]),
    exp.Cast: frozenset(["this", "to"]),
    exp.TryCast: frozenset(["this", "to", "safe"]),
    exp.Join: frozenset(["this", "side", "kind", "on", "using", "method"]),
    exp.In: frozenset(["this", "expressions", "query"]),
    exp.Like: frozenset(["this", "expression", "negate"]),
    exp.ILike: frozenset(["this", "expression", "negate"]),
    exp.Between: frozenset(["this", "low", "high"]),
    exp.Subquery: frozenset(["this", "with_", "order", "limit", "offset"]),
}


def refuse_leftovers(context: Context, node: exp.Expr) -> None:
    """An error at the first part of the tree that would be dropped."""
    for found in node.walk():
        known = _READ.get(type(found))
        if known is None:
            continue
        for part, value in found.args.items():
            if value and part not in known:
                place = value if isinstance(value, exp.Expr) and context.span(value) else found
                name = part.strip("_").replace("_", " ").upper()
                raise PlanError(f"{name} is not part of CQL", hint="see docs/grammar.md").at(context.span(place))
