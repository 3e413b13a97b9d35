"""Would catch an operator that weakens what its inputs do, or an edge for which there is no buffer."""

from __future__ import annotations

from hypothesis import assume, given

from patterns.drawn import operators, plans
from thalweg.algebra.plan import NrrJoin, Plan
from thalweg.patterns import Annotated, BufferContents, Expiry, Pattern, annotate, bound, buffer_for, buffers


def demanded(plan: Annotated) -> Pattern:
    """The strongest pattern among the inputs whose changes reach the output: of an NRR join only the left one."""
    inputs = plan.inputs[:1] if isinstance(plan.node, NrrJoin) else plan.inputs
    return max((edge.pattern for edge in inputs), default=Pattern.MON)


@given(plans())
def test_no_output_is_weaker_than_its_inputs_demand(plan: Plan) -> None:
    """pattern(op) >= max(pattern(input)), except where rule 4 (group-by) or emission (ISTREAM ...) cuts it off."""
    labelled = [
        n for n in operators(annotate(plan)) if n.node.label not in ("GroupBy", "IStream", "DStream", "RStream")
    ]
    assume(labelled)
    for node in labelled:
        assert node.edge.pattern >= demanded(node)


@given(plans())
def test_pattern_and_expiry_agree(plan: Plan) -> None:
    """Only MON never ends; STR always needs negative tuples; WKS always knows its ends."""
    allowed = {
        Pattern.MON: {Expiry.NEVER},
        Pattern.WKS: {Expiry.TIME, Expiry.ORDER},
        Pattern.WK: {Expiry.TIME, Expiry.ORDER, Expiry.REPLACEMENT, Expiry.NEGATIVE},
        Pattern.STR: {Expiry.NEGATIVE},
    }
    for node in operators(annotate(plan)):
        assert node.edge.expiry in allowed[node.edge.pattern]


@given(plans())
def test_every_edge_has_a_buffer_and_every_state_a_bound(plan: Plan) -> None:
    for node in operators(annotate(plan)):
        chosen = buffers(node.node, node.inputs)
        assert buffer_for(node.edge, BufferContents.RESULT).why
        assert (bound(node, chosen).way_out is None) == bound(node, chosen).bounded
        assert all(choice.why for choice in chosen)
