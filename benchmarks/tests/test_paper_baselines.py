"""Would catch a comparison with something that computes another answer, and a simulation whose clock is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thalweg.core.batch import Batch
from thalweg.core.errors import ThalwegError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.kernel.operator import Operator
from thalweg.kernel.operators.delta_star import DeltaStar
from thalweg.kernel.pipeline import Strategy
from thalweg_benchmarks.papers.experiment import Scale
from thalweg_benchmarks.papers.ghanem_2007.simulation import SECOND, Simulation, tuples
from thalweg_benchmarks.papers.golab_ozsu_2005.direct_distinct import DirectDistinct
from thalweg_benchmarks.papers.trace import trace

SCHEMA = Schema.of(k=DataType.BIGINT)


def _shown(operator: Operator, keys: list[int], window: int, batch: int) -> list[list[int]]:
    """What an operator shows at each instant, one tuple coming at each."""
    emitted = []
    for first in range(0, len(keys), batch):
        ts = np.arange(first, min(first + batch, len(keys)))
        arrived = Batch.of_arrivals((np.array(keys)[ts],), ts)
        emitted.append(operator.process([arrived.between(ts, ts + window)], int(ts[-1])))
    pieces = Batch.concat(emitted)
    return [
        np.sort(pieces.columns[0][(pieces.start <= t) & (t < pieces.end)]).tolist() for t in range(len(keys))
    ]  # fmt: skip


@pytest.mark.parametrize("batch", [1, 3, 50])
@pytest.mark.parametrize("window", [1, 4, 9])
def test_the_literatures_distinct_shows_what_delta_star_shows(batch: int, window: int) -> None:
    keys = np.random.default_rng(batch * window).integers(0, 6, 60).tolist()
    wanted = [sorted(set(keys[max(0, t - window + 1) : t + 1])) for t in range(len(keys))]
    assert _shown(DirectDistinct(SCHEMA), keys, window, batch) == wanted
    assert _shown(DeltaStar(SCHEMA), keys, window, batch) == wanted


def test_the_literatures_distinct_stores_its_input_and_output() -> None:
    operator = DirectDistinct(SCHEMA)
    _shown(operator, [1, 1, 2, 1, 1, 2], window=4, batch=1)
    assert operator.stored == 4 + 2


def _simulated(strategy: Strategy, seconds_per_call: float) -> Simulation:
    """COUNT over a window of one second; tuples at 1 and 2.5 s."""
    simulation = Simulation(f"SELECT COUNT(*) AS n FROM s1 [RANGE {SECOND}]", strategy)
    worked = iter(range(1_000_000))
    simulation.worker = lambda: next(worked) * seconds_per_call
    simulation.feed(list(tuples("s1", np.array([2, 5]) * SECOND // 2, {})))
    simulation.run(4)
    return simulation


def test_work_that_takes_no_time_delays_input_triggered_answers_only() -> None:
    eager, late = _simulated(Strategy.NTA, 0.0), _simulated(Strategy.ITA, 0.0)
    assert (eager.delay.maximum, eager.clock) == (0, 4 * SECOND)
    assert eager.operator("GroupBy")[0].negative_in == 2
    assert late.operator("GroupBy")[0].negative_in == 0
    assert late.delay.maximum == SECOND // 2  # tuples that left at 2 s are reported at 2.5 s


def test_work_that_takes_time_delays_every_answer_by_it() -> None:
    simulation = _simulated(Strategy.NTA, 0.01)
    assert 0.02 * SECOND <= simulation.delay.average <= 0.1 * SECOND  # a call of each operator on the way


def test_recorded_connections_are_used_where_there_are_any(tmp_path: Path) -> None:
    with pytest.raises(ThalwegError, match="no connections"):
        trace(Scale(data=tmp_path))
    zeek = tmp_path / "zeek"
    zeek.mkdir()
    hosts = {"id.orig_h": ["a", "b", "a"], "id.resp_h": ["s"] * 3}
    rows = {"service": ["http", None, "ssh"], "duration": [1.0, None, 2.0]}
    pq.write_table(pa.table(hosts | rows), zeek / "zeek_conn_x.parquet")
    found = trace(Scale(data=zeek))
    assert (found.name, found.src.tolist(), found.partner.tolist()) == ("Zeek", [0, 1, 0], [0, 1, 0])
    assert found.protocol[[0, 2]].tolist() == [found.few, found.many] and found.duration.tolist() == [1.0, 0.0, 2.0]
    lbl = tmp_path / "lbl"
    lbl.mkdir()
    (lbl / "lbl-conn-7.txt").write_text("1.5 2.0 ftp 1 2 7 8 SF L\n2.5 ? telnet ? ? 7 9 SF\n")
    found = trace(Scale(data=lbl))
    assert (found.name, found.src.tolist(), found.dst.tolist()) == ("LBL-CONN-7", [0, 0], [0, 1])
    assert found.protocol.tolist() == [found.few, found.many] and found.duration.tolist() == [2.0, 0.0]


def test_streams_begin_anew_when_they_are_at_their_end() -> None:
    made = trace(Scale(quick=True))
    assert len(set(made.only(5).protocol.tolist())) == 5
    (stream,) = made.dealt(1)
    rows = len(stream.lanes[0])
    batch = stream.batch(rows - 1, np.arange(3))
    assert batch.columns[1].tolist() == [made.src[-1], made.src[0], made.src[1]]
    assert sum(len(link.lanes[0]) for link in made.links(3)) == rows
