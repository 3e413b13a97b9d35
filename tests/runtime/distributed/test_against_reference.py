"""Would catch a plan that is cut in the wrong place: on any number of shards the answer is the reference's."""

from __future__ import annotations

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from kernel.test_against_reference import AFTERWARDS, allowed, events_of
from reference.oracle.tables import close
from runtime.distributed.simulated import SimulatedShards
from strategies.effort import examples
from strategies.plans import OPERATORS, cases
from thalweg.algebra.plan import Plan, RelationScan
from thalweg.core.time import BEGINNING
from thalweg.kernel.pipeline import Settings
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History
from thalweg.runtime.local.feeder import Feeder
from thalweg.runtime.local.outputs import OutputLog


@pytest.mark.parametrize("root", OPERATORS)
@examples(15)
@given(data=st.data())
def test_shards_give_the_references_answer(root: str, data: st.DataObject) -> None:
    compare_in_shards(*data.draw(cases(root=root).filter(lambda case: allowed(case[0]))), data)


def compare_in_shards(plan: Plan, history: History, data: st.DataObject) -> None:
    """Any number of shards, batch size and restart; small tables and aggregates in parts, or not."""
    shards = data.draw(st.sampled_from([1, 2, 5]), label="shards")
    batch = data.draw(st.sampled_from([1, 7, 1000]), label="batch size")
    stop = data.draw(st.integers(0, 10), label="restart after so many batches")
    blueprint = Blueprint(plan, settings=Settings(in_parts=data.draw(st.sampled_from([None, 1]), label="in parts")))
    tables = sorted({leaf.source.name for leaf in plan.walk() if isinstance(leaf, RelationScan)})
    copied = data.draw(st.sets(st.sampled_from(tables)) if tables else st.just(set()), label="copied tables")
    run = SimulatedShards(blueprint, shards, copied)
    note(f"{run.cut}")
    feeder = Feeder.of(blueprint.build(run.pool), BEGINNING)
    for t, kind, what in events_of(plan, history):
        (feeder.arrive(what[0], t, what[1]) if kind == 0 else feeder.table_changed(what[0], t, *what[1:]))  # type: ignore[arg-type]
    log = OutputLog(plan.schema, run.pool)
    log.add(run.begin(BEGINNING - 1))
    end = max(history.last, 0) + AFTERWARDS
    due = feeder.due(end)
    for n, i in enumerate(range(0, max(1, len(due)), batch)):
        chunk = due[i : i + batch]
        log.add(run.process(feeder.batches(chunk), end if i + batch >= len(due) else chunk[-1].t))
        if n == stop:
            run.restart()
    reference = Reference(plan, history)
    for t in [*reference.instants(end), end]:
        wanted, got = reference.answer(t), log.answer(t)
        note(f"t={t}: reference {wanted}, {shards} shards {got}")
        assert close(wanted, got)
