"""gamma_{K;}(S) = delta(pi_K(S)): groups of which nothing is asked are distinct values."""

from __future__ import annotations

from thalweg.algebra.plan import Distinct, GroupBy, Plan, Project
from thalweg.patterns import Pattern, derive


def eliminate_instead_of_group(plan: Plan) -> Plan | None:
    """delta* knows when a value ends, where a group waits to be replaced.

    With keys and without aggregates. The rows and their ts agree; exp does not (that of a group is FOREVER), so not
    where something above looks at dates. Nor over strict inputs, which would make the result strict (rule 3 of
    GolabOzsu2005 §5.2) where groups stay weak (rule 4).
    """
    match plan:
        case GroupBy(child, keys, ()) if keys and derive(child).pattern is not Pattern.STR:
            return Distinct(Project(child, keys))
    return None
