"""The rewrite rules, in families. `RULES` is the order in which they are tried on a node.

No rule undoes another: selections and projections move down, negations move up, and all others make a plan smaller or
its conditions simpler. `CHOICES` are equivalences that pay in either direction, for a search that knows costs. A rule
returns None for all other nodes, so its `match` is not exhaustive and does not end in `assert_never`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from thalweg.algebra.plan import Plan
from thalweg.optimizer.rules.distinct import (
    drop_distinct,
    drop_inner_distinct,
    eliminate_instead_of_group,
    push_distinct_below_join,
    push_distinct_below_projection,
)
from thalweg.optimizer.rules.empty_inputs import (
    fold_empty_input,
    fold_empty_join_input,
    fold_empty_set_input,
)
from thalweg.optimizer.rules.joins import (
    associate_join,
    commute_join,
    infer_across_equality,
    merge_selection_into_join,
    narrow_outer_join,
    push_condition_below_join,
)
from thalweg.optimizer.rules.negations import (
    pull_anti_join_above_join,
    pull_negation_above_join,
    push_anti_join_below_join,
)
from thalweg.optimizer.rules.prune_columns import (
    prune_aggregates,
    prune_join_columns,
    prune_partner_columns,
    push_projection_below_semi_join,
    push_projection_below_union,
    push_projection_below_window,
)
from thalweg.optimizer.rules.push_selections import (
    push_selection_below_changes,
    push_selection_below_distinct,
    push_selection_below_group_by,
    push_selection_below_intersection,
    push_selection_below_negation,
    push_selection_below_outer_join,
    push_selection_below_partitions,
    push_selection_below_projection,
    push_selection_below_semi_join,
    push_selection_below_union,
    push_selection_below_window,
)
from thalweg.optimizer.rules.simplify import (
    drop_identity_projection,
    drop_true_selection,
    fold_constants,
    merge_projection_into_group_by,
    merge_projections,
    merge_selections,
    order_conditions,
    simplify_condition,
)
from thalweg.optimizer.rules.windows import (
    drop_unbounded_window,
    merge_windows_of_union,
    name_windows_alike,
)

__all__ = ["CHOICES", "RULES", "Rule"]


@dataclass(frozen=True)
class Rule:
    """An equation that is applied from left to right: `apply` returns None where it does not hold.

    A rule that `keeps_dates` gives the same rows with the same ts and exp at every instant, so it may be applied
    anywhere. Any other rule is not applied below an operator that reads dates. `text` is what EXPLAIN says of the rule.
    """

    name: str
    apply: Callable[[Plan], Plan | None]
    text: str
    keeps_dates: bool = True


RULES: tuple[Rule, ...] = (
    Rule("fold constants", fold_constants, "constants are computed once"),
    Rule("order conditions", order_conditions, "conditions of the same meaning get the same spelling"),
    Rule(
        "simplify condition",
        simplify_condition,
        "duplicates and implied parts of conditions are left out, contradictions found",
    ),
    Rule("drop true selection", drop_true_selection, "a selection that keeps all rows is left out"),
    Rule("fold empty input", fold_empty_input, "an operator over an empty input is empty"),
    Rule("fold empty set input", fold_empty_set_input, "an empty input decides a union, negation or intersection"),
    Rule(
        "fold empty join input", fold_empty_join_input, "an empty side or a condition that is never true decides a join"
    ),
    Rule("name windows alike", name_windows_alike, "windows that show the same get one signature"),
    Rule("drop unbounded window", drop_unbounded_window, "an unbounded window is the stream itself"),
    Rule("merge selections", merge_selections, "one selection instead of two"),
    Rule("narrow outer join", narrow_outer_join, "an outer join whose unmatched rows are dropped is an inner one"),
    Rule(
        "merge selection into join", merge_selection_into_join, "a selection becomes part of an inner join's condition"
    ),
    Rule(
        "push selection below projection",
        push_selection_below_projection,
        "rows are dropped before columns are computed",
    ),
    Rule("push selection below union", push_selection_below_union, "each input of a union drops its own rows"),
    Rule("push selection below window", push_selection_below_window, "only rows that qualify enter a logical window"),
    Rule(
        "push selection below partitions",
        push_selection_below_partitions,
        "partitions that are dropped later are never stored",
    ),
    Rule(
        "push selection below outer join",
        push_selection_below_outer_join,
        "rows of the kept side of an outer join are dropped before it",
    ),
    Rule(
        "push selection below semi join",
        push_selection_below_semi_join,
        "left rows are dropped before they look for partners",
    ),
    Rule(
        "push selection below distinct",
        push_selection_below_distinct,
        "values are dropped before their duplicates are eliminated",
    ),
    Rule(
        "push selection below group by",
        push_selection_below_group_by,
        "tuples of groups that are dropped later are not counted",
    ),
    Rule(
        "push selection below negation",
        push_selection_below_negation,
        "values that are dropped later are dropped on both sides of a negation",
    ),
    Rule(
        "push selection below intersection",
        push_selection_below_intersection,
        "rows that are dropped later are dropped on both sides of an intersection",
    ),
    Rule(
        "push selection below changes",
        push_selection_below_changes,
        "ISTREAM and DSTREAM do not compare rows that are dropped later",
    ),
    Rule(
        "push condition below join",
        push_condition_below_join,
        "parts of a join's condition over one side are tested there",
    ),
    Rule(
        "infer across equality",
        infer_across_equality,
        "a comparison of one side of an equality holds for the other side too",
    ),
    Rule("drop identity projection", drop_identity_projection, "a projection that changes nothing is left out"),
    Rule("merge projections", merge_projections, "one projection instead of two"),
    Rule("merge projection into group by", merge_projection_into_group_by, "a group-by computes its own columns"),
    Rule(
        "push projection below semi join",
        push_projection_below_semi_join,
        "left rows get narrower before they look for partners",
    ),
    Rule("push projection below union", push_projection_below_union, "each input of a union computes its own columns"),
    Rule("push projection below window", push_projection_below_window, "windows store narrower tuples"),
    Rule("prune aggregates", prune_aggregates, "aggregates that no operator reads are not computed"),
    Rule("prune join columns", prune_join_columns, "joins store only columns that are read"),
    Rule(
        "prune partner columns", prune_partner_columns, "a side that is only compared keeps only the compared columns"
    ),
    Rule("merge windows of union", merge_windows_of_union, "one window instead of two equal ones"),
    Rule(
        "eliminate instead of group",
        eliminate_instead_of_group,
        "groups without aggregates are distinct values",
        keeps_dates=False,
    ),
    Rule("drop distinct", drop_distinct, "rows with a key have no duplicates"),
    Rule(
        "drop inner distinct",
        drop_inner_distinct,
        "an operator that does not count duplicates needs no elimination below it",
    ),
    Rule(
        "push distinct below projection",
        push_distinct_below_projection,
        "duplicate elimination moves towards the joins",
    ),
    Rule("push distinct below join", push_distinct_below_join, "duplicates are eliminated before a join stores them"),
    Rule("pull anti join above join", pull_anti_join_above_join, "joins below a NOT EXISTS see no negative tuples"),
    Rule("pull negation above join", pull_negation_above_join, "joins below a negation see no negative tuples"),
)

CHOICES: tuple[Rule, ...] = (
    Rule("commute join", commute_join, "the sides of a join change places"),
    Rule("associate join", associate_join, "three inputs are joined in another order"),
    Rule("push anti join below join", push_anti_join_below_join, "a NOT EXISTS drops rows before they are joined"),
)
