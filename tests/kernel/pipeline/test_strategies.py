"""Each strategy shows the trait that sets it apart (U3, U4, N2, N4-N8): would catch one that only bears the name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import thalweg as tw
from thalweg.core.batch import Batch
from thalweg.core.errors import PlanError
from thalweg.core.time import BEGINNING
from thalweg.kernel.pipeline import Strategy, build
from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg.kernel.pipeline.queued import Fifo, Network
from thalweg.kernel.pipeline.queued.queue import Queue, QueueItem
from thalweg.runtime.local import LocalQuery, Session

FAVOURITES = "SELECT COUNT(*) AS n FROM sales [RANGE 5] s JOIN favourites f ON s.item = f.item"


def figure1(strategy: str) -> LocalQuery:
    """GhanemEtAl2007, Figure 1: at T5 and T6 something arrives that does not pass the join."""
    s = tw.local()
    s.execute("CREATE STREAM sales (item INT); CREATE RELATION favourites (item INT PRIMARY KEY)")
    s.insert("favourites", [(4,), (5,)])
    q = s.query(FAVOURITES, strategy=strategy)
    s.push("sales", [(0, 4), (1, 5), (2, 3), (3, 5), (4, 4), (5, 2), (6, 7)])
    return q


def test_the_input_triggered_count_stays_at_4_where_the_answer_is_3() -> None:
    q = figure1("ita")
    assert [q.answer(t) for t in (4, 5, 6)] == [[(4,)], [(4,)], [(4,)]]


@pytest.mark.parametrize("strategy", ["nta", "time-message", "piggyback", "auto"])
def test_the_others_follow(strategy: str) -> None:
    q = figure1(strategy)
    assert [q.answer(t) for t in (4, 5, 6)] == [[(4,)], [(3,)], [(2,)]]


def test_only_the_input_triggered_answer_is_late() -> None:
    late, prompt = figure1("ita"), figure1("nta")
    for q in (late, prompt):
        q.changes()
        q.heartbeat()
        q.changes()
    assert late.delay().maximum == 1 and late.delay().average > 0
    assert prompt.delay().maximum == 0


def joined(strategy: str, partners: int) -> Sequence[OperatorMetrics]:
    """One tuple of r meets so many of s, and all leave again."""
    s = tw.local()
    s.execute("CREATE STREAM r (a INT); CREATE STREAM s (a INT)")
    q = s.query("SELECT MAX(s.a) AS m FROM r [RANGE 5] JOIN s [RANGE 5] ON r.a = s.a", strategy=strategy)
    s.push("r", [(1, 6)])
    s.push("s", [(t, 6) for t in (2, 3, 4) for _ in range(partners)])
    s.advance(20)
    assert q.answer() == [(None,)]
    return q.metrics().operators


def the(operator: str, metrics: Sequence[OperatorMetrics]) -> OperatorMetrics:
    (found,) = [m for m in metrics if m.operator == operator]
    return found


def test_a_join_sends_one_message_where_it_sent_negative_tuples() -> None:
    assert the("Join", joined("nta", 4)).negative_out == 12
    join = the("Join", joined("time-message", 4))
    assert (join.negative_out, join.messages_out) == (0, 1), "all results end when r's tuple does"


def test_no_message_without_results() -> None:
    s = tw.local()
    s.execute("CREATE STREAM r (a INT); CREATE STREAM s (a INT)")
    q = s.query("SELECT MAX(s.a) AS m FROM r [RANGE 5] JOIN s [RANGE 5] ON r.a = s.a", strategy="time-message")
    s.push("r", [(1, 6), (2, 7)])
    s.push("s", [(2, 8)])
    s.advance(20)
    q.changes()
    assert the("Join", q.metrics().operators).messages_out == 0
    assert the("Join", q.metrics().operators).messages_in == 3, "each input's expirations reach the join"


def test_expire_sends_a_negative_tuple_only_for_what_qualifies() -> None:
    s = tw.local()
    s.execute("CREATE STREAM s (a INT)")
    q = s.query("SELECT COUNT(*) AS n FROM s [RANGE 3] WHERE a > 7", strategy="nta")
    s.push("s", [(t, t % 10) for t in range(40)])
    s.advance(60)
    q.changes()
    expire = the("Expire", q.metrics().operators)
    assert expire.negative_out == expire.positive_out == 8


# -- queues


def tuples(*values: int) -> Batch:
    lane = np.array(values, dtype=np.int64)
    return Batch.of_arrivals((lane,), lane)


def test_a_piggybacking_queue_holds_one_message_and_the_next_tuple_carries_it() -> None:
    queue = Queue(piggyback=True)
    for item in (
        QueueItem(tuples(1), 1),
        QueueItem(None, 2),
        QueueItem(None, 3),
        QueueItem(tuples(4), 4),
        QueueItem(tuples(5), 5),
    ):
        queue.put(item)
    taken = [queue.take() for _ in range(len(queue))]
    assert [(item.clock, item.is_message, item.flagged) for item in taken] == [
        (1, False, False), (4, False, True), (5, False, False),
    ]  # fmt: skip


def test_a_plain_queue_keeps_every_message() -> None:
    queue = Queue()
    for clock in (1, 2, 3):
        queue.put(QueueItem(None, clock))
    assert len(queue) == 3 and queue.longest == 3


def test_a_tuple_delayed_below_is_not_overtaken_by_time() -> None:
    """GhanemEtAl2007, appendix A: 7 waits below SUM when 5 expires; under a global clock it would say 8, not 15."""
    s = tw.local()
    s.execute("CREATE STREAM s1 (v INT)")
    plan = s.query("SELECT SUM(v) AS s FROM s1 [RANGE 5]", strategy="reference").plan
    network = Network(build(plan, Strategy.NTA), Strategy.NTA, Fifo())
    network.begin(BEGINNING)
    for t, v in ((0, 5), (2, 6), (3, 2)):
        network.arrive({"s1": Batch.of_arrivals((np.array([v]),), np.array([t]))}, t)
        network.run()
    while len(network.out):
        network.out.take()
    network.arrive({"s1": Batch.of_arrivals((np.array([7]),), np.array([4]))}, 4)  # nobody works yet
    network.wake(5)
    network.run()
    items = [network.out.take() for _ in range(len(network.out))]
    shown = [(int(b.start[i]), int(b.columns[0][i])) for b in (item.batch for item in items) if b is not None
             for i in range(len(b)) if b.sign[i] > 0]  # fmt: skip
    assert shown == [(4, 20), (5, 15)]


# -- settings


def changes_with(**settings: object) -> list[tuple[int, int, tuple[object, ...]]]:
    s = tw.local()
    s.execute("CREATE STREAM s (a INT)")
    q = s.query("SELECT COUNT(*) AS n FROM s [RANGE 3]", strategy="nta", settings=tw.Settings(**settings))  # type: ignore[arg-type]
    s.push("s", [(1, 1), (2, 1)])
    s.advance(20)
    return [change for change in q.changes() if change[1] > 0]


def test_an_eager_interval_makes_answers_late_by_at_most_that() -> None:
    assert [t for t, _, _ in changes_with()] == [1, 2, 4, 5]
    assert [t for t, _, _ in changes_with(eager=4)] == [1, 2, 4, 8]


def test_round_robin_gives_the_same() -> None:
    assert changes_with(scheduler="round-robin", slot=2) == changes_with()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scheduler": "lottery"}, "there is no scheduler 'lottery'"),
        ({"partitions": 0}, "partitions must be at least 1, not 0"),
        ({"partitions": 10_001}, "partitions must be at most 10000, not 10001"),
        ({"lazy": -1}, "lazy must be at least 0, not -1"),
        ({"eager": -1}, "eager must be at least 0, not -1"),
        ({"most_results": 0}, "most_results must be at least 1, not 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        tw.Settings(**settings)  # type: ignore[arg-type]


# -- direct


def direct(cql: str) -> tuple[Session, LocalQuery]:
    s = tw.local()
    s.execute("CREATE STREAM r (a INT); CREATE STREAM s (a INT); CREATE RELATION t (a INT PRIMARY KEY)")
    return s, s.query(cql, strategy="direct")


@pytest.mark.parametrize(
    ("cql", "operator", "reason"),
    [
        ("SELECT a FROM r [RANGE 5] EXCEPT ALL SELECT a FROM s [RANGE 5]", "Negation", "only a negative tuple ends it"),
        ("SELECT a FROM r [ROWS 5]", "Window", "the end is an order of expiration, not a time"),
        ("SELECT r.a FROM r [RANGE 5] JOIN t ON r.a = t.a", "Relation", "only a negative tuple ends it"),
    ],
)
def test_direct_is_refused_with_the_reason(cql: str, operator: str, reason: str) -> None:
    with pytest.raises(PlanError, match=f"direct cannot run this query: for a result of the {operator}.*{reason}"):
        direct(cql)


def test_direct_sends_no_negative_tuples() -> None:
    s, q = direct("SELECT DISTINCT r.a FROM r [RANGE 5] JOIN s [RANGE 3] ON r.a = s.a")
    s.push("r", [(1, 1), (2, 1), (3, 2)])
    s.push("s", [(2, 1), (3, 1), (4, 2)])
    s.advance(20)
    assert [q.answer(t) for t in (1, 2, 4, 6, 7)] == [[], [(1,)], [(1,), (2,)], [(2,)], []]
    assert all(m.negative_out == 0 for m in q.metrics().operators)
    assert the("Join", q.metrics().operators).positive_out == 5
