"""EXPLAIN of the chosen plan with rates, sizes and costs, the rewrites that led to it, and the other plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thalweg.algebra.codec import digest
from thalweg.algebra.plan import MultiJoin, Plan
from thalweg.core.time import SECOND, Clock
from thalweg.explain.layout import entry, table, tree
from thalweg.optimizer.alternatives import Alternative
from thalweg.optimizer.cost import Costed, expected_order, stored_tuples
from thalweg.optimizer.estimates import ExpiryApproach
from thalweg.optimizer.optimize import HYBRID_FROM_PREMATURE, SAME_COST_RATIO, Optimized

HOW = {
    ExpiryApproach.DIRECT: "direct: results expire by their dates; a negative tuple deletes those that end earlier",
    ExpiryApproach.HYBRID: "hybrid: above the negation, a negative tuple announces every expiry",
}


@dataclass(frozen=True)
class OperatorMeasurement:
    """Measured of an operator: results per tick, and tuples that it stores now."""

    rate: float
    stored: int


Analysis = Mapping[Plan, OperatorMeasurement]


def choice_text(found: Optimized, measured: Analysis | None = None) -> str:
    """The plan that runs, with its costs; with `measured`, estimates beside measurements (EXPLAIN ANALYZE)."""
    lines = [*_headline(found), "", *_costs(found.chosen.costed, _per(found.written), measured), ""]
    return "\n".join([*lines, *_notes(found)]) + "\n"


def plans_text(found: Optimized) -> str:
    """All plans that were compared, the cheapest first, each with its tree and costs."""
    _, factor = _per(found.written)
    rows = [("plan", f"cost/{_per(found.written)[0]}", "tuples stored", "")]
    for each in (found.chosen, *found.others):
        why = "chosen" if each is found.chosen else _why_not(each, found.chosen)
        rows.append((each.name, _number(each.cost * factor), _number(each.costed.state), why))
    lines = [*table(rows, right=(1, 2)), ""]
    for each in (found.chosen, *found.others):
        lines += [each.name, *_costs(each.costed, _per(found.written), None), ""]
    return "\n".join([*lines, *_notes(found)]) + "\n"


def choice_json(found: Optimized, measured: Analysis | None = None) -> dict[str, Any]:
    """The chosen plan and the others as JSON; rates and costs are per second, or per tick."""
    unit, factor = _per(found.written)
    return {
        "per": unit,
        "chosen": _alternative_json(found.chosen, factor, measured),
        "others": [_alternative_json(each, factor, None) for each in found.others],
        "above_negation": found.approach.value,
        "premature": found.premature,
        "statistics": found.statistics.as_json(),
    }


def _alternative_json(each: Alternative, factor: float, measured: Analysis | None) -> dict[str, Any]:
    return {
        "name": each.name,
        "cost": each.cost * factor,
        "stored": each.costed.state,
        "digest": digest(each.plan),
        "rules": [step.rule.name for step in each.steps],
        "orders": list(_orders(each.costed)),
        "plan": _costed_json(each.costed, factor, measured),
    }


def _costed_json(each: Costed, factor: float, measured: Analysis | None) -> dict[str, Any]:
    known = (measured or {}).get(each.node)
    return {
        "operator": each.node.label,
        "detail": each.node.detail,
        "rate": each.traffic.rate * factor,
        "size": each.traffic.size,
        "cost": each.cost * factor,
        "stored": stored_tuples(each),
        **({} if known is None else {"measured": {"rate": known.rate * factor, "stored": known.stored}}),
        "children": [_costed_json(child, factor, measured) for child in each.children],
    }


def _headline(found: Optimized) -> Iterator[str]:
    unit, factor = _per(found.written)
    chosen, cost = found.chosen, found.chosen.cost * factor
    written = next((each for each in found.others if each.plan == found.written), None)
    beside = "" if written is None else f", {_number(written.cost * factor)} as written"
    yield entry("runs as ", f"{chosen.name}: {_number(cost)} tuples touched per {unit}{beside}")
    if chosen.steps:
        counted = Counter(step.rule.name for step in chosen.steps)
        yield entry("rules   ", ", ".join(f"{name} ({n}x)" if n > 1 else name for name, n in counted.items()))


def _costs(costed: Costed, per: tuple[str, float], measured: Analysis | None) -> list[str]:
    unit, factor = per
    head = ["operator", f"results/{unit}", "alive", "stored", f"cost/{unit}"]
    if measured is not None:
        head = ["operator", f"results/{unit}", "seen", "stored", "seen", f"cost/{unit}"]
    rows = [tuple(head)]
    for label, each in tree(costed, lambda c: f"{c.node.label} {c.node.detail}".rstrip(), lambda c: c.children):
        rate, kept, cost = each.traffic.rate * factor, stored_tuples(each), each.cost * factor
        if measured is None:
            rows.append((label, *map(_number, (rate, each.traffic.size, kept, cost))))
            continue
        known = measured.get(each.node)
        seen = ("-", "-") if known is None else (_number(known.rate * factor), _number(known.stored))
        rows.append((label, _number(rate), seen[0], _number(kept), seen[1], _number(cost)))
    return table(rows, right=range(1, len(head)))


def _orders(costed: Costed) -> Iterator[list[str]]:
    """For each multi-way join, its inputs in the order in which they are expected to be joined."""
    for each in costed.walk():
        if isinstance(each.node, MultiJoin):
            names = [_sources(child.node) for child in each.children]
            yield [names[i] for i in expected_order(each)]


def _sources(plan: Plan) -> str:
    return " and ".join(leaf.detail for leaf in plan.walk() if not leaf.children)


def _notes(found: Optimized) -> Iterator[str]:
    for order in _orders(found.chosen.costed):
        yield entry(
            "order   ",
            f"{', '.join(order)}: new tuples are joined with the others in this order; it changes when the rates do",
        )
    if found.premature:
        share = f"an estimated {found.premature:.0%} of results are deleted before their time"
        yield entry("negation", f"{HOW[found.approach]} ({share}; hybrid from {HYBRID_FROM_PREMATURE:.0%} on)")
    _, factor = _per(found.written)
    for name, known in sorted(found.statistics.sources.items()):
        facts = [f"{_number(known.rate * factor)} rows per {_per(found.written)[0]}"] if known.rate is not None else []
        facts += [f"{_number(known.rows)} rows"] if known.rows is not None else []
        facts += [f"{_number(n)} values of {column}" for column, n in known.distinct.items()]
        yield entry("known   ", f"{name}: {', '.join(facts)} ({known.origin})")
    if found.statistics.is_empty:
        yield entry("known   ", "nothing: costs assume that all streams are alike (CREATE STREAM ... RATE, DISTINCT)")


def _why_not(each: Alternative, chosen: Alternative) -> str:
    if each.cost * SAME_COST_RATIO <= chosen.cost:
        more = each.costed.state > chosen.costed.state * 1.005  # as shown, not by a fraction of a tuple
        return "costs about the same, and stores more" if more else "costs about the same"
    return f"costs {each.cost / chosen.cost:.3g} times as much" if chosen.cost else "costs more"


def _per(plan: Plan) -> tuple[str, float]:
    """The unit of time in which rates are shown, and its length in ticks."""
    return ("second", float(SECOND)) if plan.clock is Clock.TIMESTAMPS else ("tick", 1.0)


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def measurements(places: Mapping[Plan, int], metrics: Sequence[Any], ticks: float) -> dict[Plan, OperatorMeasurement]:
    """For each sub-plan, what was measured in `ticks` ticks; `places` gives the position of its top operator.

    Operators follow their inputs, so a sub-plan's own operators stand between the previous sub-plan's top and its own.
    """
    tops = sorted(set(places.values()))
    stored = {
        top: sum(metric.stored for metric in metrics[before + 1 : top + 1])
        for before, top in zip([-1, *tops], tops, strict=False)
    }
    return {
        plan: OperatorMeasurement(metrics[i].positive_out / max(ticks, 1.0), stored[i]) for plan, i in places.items()
    }
