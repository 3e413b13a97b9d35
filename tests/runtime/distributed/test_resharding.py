"""Would catch a query that loses, doubles or misplaces state when it goes on in another number of shards.

Whatever the plan, the batch at the border, and how much of it had been done before: the answer is the reference's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
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
from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.algebra.plan import Plan
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.cql import compile_query
from thalweg.kernel.pipeline import Settings
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History
from thalweg.runtime.distributed.checkpoint.layouts import Layout
from thalweg.runtime.distributed.checkpoint.report import BAD_ROWS, LATE, SideOutput
from thalweg.runtime.distributed.checkpoint.store import KEPT_BATCHES
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.side_outputs import read_side_output

NUMBERS = [1, 2, 5]
GROUPS = 8


@pytest.mark.parametrize("root", OPERATORS)
@examples(4)
@given(data=st.data())
def test_a_query_goes_on_in_any_number_of_shards_with_the_same_answers(root: str, data: st.DataObject) -> None:
    compare_across_borders(*data.draw(cases(root=root).filter(lambda case: allowed(case[0]))), data)


def compare_across_borders(plan: Plan, history: History, data: st.DataObject) -> None:
    """Any batches, stopped anywhere and gone on with in other numbers of shards."""
    size = data.draw(st.sampled_from([3, 1]), label="batch size")
    events = events_of(plan, history)
    sources = {leaf.source.name for leaf in plan.walk() if hasattr(leaf, "source")}
    tables = {r for r in sources if history.updates(r)}
    end = max(history.last, 0) + AFTERWARDS
    batches: list[dict[str, list[list[TimedRow]]]] = []
    for i in range(0, len(events), size):
        batch: defaultdict[str, list[TimedRow]] = defaultdict(list)
        for t, kind, (name, *what) in events[i : i + size]:
            batch[str(name)].append((t, 0 if kind == 0 else what[0], what[-1]))  # type: ignore[arg-type]
        batches.append({name: [rows] for name, rows in batch.items()})
    shards = data.draw(st.sampled_from(NUMBERS), label="first shards")
    with TemporaryDirectory() as folder:
        inputs = {name: InputTime() for name in sources - tables}
        keys = dict.fromkeys(tables, ())
        groups = data.draw(st.sampled_from([5, 8]), label="groups")
        copied = data.draw(st.sets(st.sampled_from(sorted(tables))) if tables else st.just(set()), label="copied")
        in_parts = data.draw(st.sampled_from([None, 1]), label="in parts")
        blueprint = Blueprint(plan, settings=Settings(in_parts=in_parts))
        cluster = Cluster(blueprint, shards, Path(folder), inputs, keys, twice=False, groups=groups, copied=copied)
        borders = data.draw(st.sets(st.integers(0, len(batches)), min_size=1, max_size=2), label="stopped before")
        for number, rows in enumerate([*batches, {}]):
            if number in borders:
                _cross(cluster, rows, data)
            cluster.batch(rows)
        cluster.drain()
        cluster.batch({}, end)
        reference = Reference(plan, history)
        note(f"{cluster.spec.cut} {cluster.spec.layouts}")
        for t in [*reference.instants(end), end]:
            wanted, got = reference.answer(t), cluster.log.answer(t)
            note(f"t={t}: reference {wanted}, shards {got}")
            assert close(wanted, got)


def _cross(cluster: Cluster, rows: Mapping[str, list[list[TimedRow]]], data: st.DataObject) -> None:
    """Stop before a batch, or in the middle of it, and go on in other numbers of shards, perhaps in vain at first."""
    for shards in data.draw(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=3), label="then in shards"):
        if data.draw(st.booleans(), label="the batch is begun before"):
            every = range(cluster.spec.layouts.last.shards)
            done = data.draw(st.lists(st.sampled_from(every), unique=True), label="shards that do it")
            cluster.batch(rows, shards_done=done)
        cluster.reshard(shards)


KEYED = Schema.of(k=DataType.BIGINT, v=DataType.STRING)


def _two_sources(folder: Path, cql: str, key: tuple[int, ...]) -> Cluster:
    catalog = Catalog()
    catalog.add(Stream("s", KEYED))
    catalog.add(Relation("r", KEYED, key=key))
    return Cluster(Blueprint(compile_query(cql, catalog)), 2, folder, {"s": InputTime()}, {"r": key}, groups=GROUPS)


def test_a_table_that_every_shard_knows_is_handed_on_once(tmp_path: Path) -> None:
    """The table's key is k, the join's is v: a change may replace a row of any group."""
    cluster = _two_sources(tmp_path, "SELECT s.k, r.k AS rk FROM s [RANGE 100] JOIN r ON s.v = r.v", key=(0,))
    assert cluster.spec.plan_of(0).sources.broadcast_tables
    names = ["red", "green", "blue", "black"]
    arrived, table = [(i, names[i % 4]) for i in range(8)], dict(enumerate(names))
    cluster.batch({"s": [[(1, 0, row) for row in arrived]]})
    cluster.batch({"r": [[(2, 1, row) for row in table.items()], [(2, -1, (77, "none"))]]})
    for time, shards in enumerate((2, 5, 1, 3), start=3):
        cluster.reshard(shards)
        table[time % 4] = names[shards % 4]
        arrived.append((100 + time, names[time % 4]))
        cluster.batch({"r": [[(time, 1, (time % 4, table[time % 4]))]]})
        cluster.batch({"s": [[(time, 0, arrived[-1])]]})
        wanted = Counter((k, rk) for k, v in arrived for rk, name in table.items() if v == name)
        assert cluster.now == time
        assert cluster.log.answer(time) == wanted
    assert [table.num_rows for table in read_side_output(tmp_path, BAD_ROWS, "r")] == [1]
    assert sum(report.side_outputs.get(SideOutput(BAD_ROWS, "r"), 0) for report in cluster.reports()) == 1


def test_late_rows_of_a_batch_that_was_begun_in_another_layout_count_once(tmp_path: Path) -> None:
    catalog = Catalog()
    catalog.add(Stream("s", KEYED))
    plan = compile_query("SELECT k, COUNT(*) AS n FROM s [RANGE 100] GROUP BY k", catalog)
    cluster = Cluster(Blueprint(plan), 2, tmp_path, {"s": InputTime()}, {}, groups=GROUPS)
    cluster.batch({"s": [[(10, 0, (i, "on time")) for i in range(8)]]})
    late: dict[str, list[list[TimedRow]]] = {"s": [[(1, 0, (i, "late")) for i in range(8)]]}
    cluster.batch(late, shards_done=[1])
    cluster.reshard(5)
    cluster.batch(late, shards_done=[0, 3])
    cluster.reshard(3)
    cluster.batch(late)
    rows = [row["k"] for table in read_side_output(tmp_path, LATE, "s") for row in table.to_pylist()]
    assert sorted(rows) == list(range(8))
    for shards in (1, 5):
        cluster.reshard(shards)
        cluster.batch({})
        assert sum(report.side_outputs.get(SideOutput(LATE, "s"), 0) for report in cluster.reports()) == 8
    assert sum(metrics.positive_out for report in cluster.reports() for metrics in report.operators[:1]) == 8


def test_states_of_older_layouts_are_removed_when_nobody_can_go_back_to_them(tmp_path: Path) -> None:
    cluster = _two_sources(tmp_path, "SELECT s.k FROM s [RANGE 100] JOIN r ON s.k = r.k", key=(0,))

    def layouts() -> set[str]:
        return {path.name for path in (tmp_path / "state" / "stage-0").iterdir()}

    for _ in range(4):
        cluster.batch({})
    cluster.reshard(5)
    for _ in range(KEPT_BATCHES):
        cluster.batch({})
        assert layouts() == {"from-0-of-2", "from-4-of-5"}
    cluster.batch({})
    assert layouts() == {"from-4-of-5"}
    assert cluster.spec.layouts.history == (Layout(0, 2), Layout(4, 5))
