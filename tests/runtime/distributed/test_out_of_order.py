"""Would catch a shard that loses, doubles or misplaces rows that come out of order, in any number of batches.

Out of order within the lateness gives the answer of the rows in order; what is later than that is counted and kept.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from kernel.test_against_reference import AFTERWARDS, allowed, events_of
from reference.oracle.tables import close
from runtime.distributed.cluster import Cluster, TimedRow
from strategies.effort import examples
from strategies.plans import OPERATORS, cases
from thalweg.core.time import BEGINNING
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.reference.evaluate import Reference
from thalweg.runtime.distributed.checkpoint.report import LATE
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.side_outputs import read_side_output

LATENESS = 3


@pytest.mark.parametrize("root", OPERATORS)
@examples(4)
@given(data=st.data())
def test_out_of_order_rows_give_the_answer_of_rows_in_order(root: str, data: st.DataObject) -> None:
    plan, history = data.draw(cases(root=root).filter(lambda case: allowed(case[0])))
    shards = data.draw(st.sampled_from([1, 2, 5]), label="shards")
    size = data.draw(st.sampled_from([3, 1, 1000]), label="batch size")
    twice = data.draw(st.booleans(), label="every batch twice")
    dice = data.draw(st.randoms(use_true_random=False), label="delays")
    # Rows of one stream and instant are delayed together: their order among themselves counts.
    delays: defaultdict[object, int] = defaultdict(lambda: dice.randint(0, LATENESS))
    events = events_of(plan, history)
    events.sort(key=lambda e: e[0] + (delays[e[0], e[2][0]] if e[1] == 0 else 0))
    sources = {leaf.source.name for leaf in plan.walk() if hasattr(leaf, "source")}
    streams = {s for s in sources if any(e[2][0] == s and e[1] == 0 for e in events)}
    tables = {r for r in sources if history.updates(r)}
    end = max(history.last, 0) + AFTERWARDS
    with TemporaryDirectory() as folder:
        inputs = {name: InputTime(LATENESS) for name in sources - tables}
        cluster = Cluster(Blueprint(plan), shards, Path(folder), inputs, dict.fromkeys(tables, ()), twice=twice)
        note(f"{cluster.spec.cut}")
        for i in range(0, len(events), size):
            batch: defaultdict[str, list[TimedRow]] = defaultdict(list)
            for t, kind, (name, *what) in events[i : i + size]:
                batch[str(name)].append((t, 0 if kind == 0 else what[0], what[-1]))  # type: ignore[arg-type]
            cluster.batch({name: [rows] for name, rows in batch.items()})
        cluster.drain()
        assert sum(report.waiting for report in cluster.reports()) == 0 or tables
        if streams and cluster.now > BEGINNING:  # behind the time that has passed: late, and without any effect
            too_late = {s: [[(cluster.now - 1, 0, history.stream(s)[0].row)]] for s in streams}
            cluster.batch(too_late)
            kept = {s: sum(table.num_rows for table in read_side_output(Path(folder), LATE, s)) for s in streams}
            assert kept == dict.fromkeys(streams, 1)
        cluster.batch({}, end)
        reference = Reference(plan, history)
        for t in [*reference.instants(end), end]:
            wanted, got = reference.answer(t), cluster.log.answer(t)
            note(f"t={t}: reference {wanted}, {shards} shards {got}")
            assert close(wanted, got)
