"""Would catch changes that depend on where the replay stops to look, a cut that changes what came before it, and
cells that come back from a file as something else."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

import thalweg as tw
from thalweg.cli.output import as_text, unique
from thalweg.core.schema import Field
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType
from thalweg.formats.recorded import RecordedEvent
from thalweg.formats.recorded.cells import read_plain, read_text
from thalweg.runtime.local.replay import Replay, SignedRow

QUERIES = (
    "SELECT a, COUNT(*) AS n FROM s [RANGE 4] GROUP BY a",
    "SELECT s.a FROM s [RANGE 3], r [RANGE 5] WHERE s.a = r.a",
    "SELECT a FROM s [RANGE 6 SLIDE 2] EXCEPT ALL SELECT a FROM r [ROWS 2]",
)
LATENESS = 2

Source = list[tuple[int, int]]

sources = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 1)), max_size=8)


def replayed(s: Source, r: Source, text: str, chunk: int, until: int | None = None) -> tuple[list[SignedRow], int]:
    """The changes of a query over two streams, and the last instant."""
    session = tw.local()
    session.execute(f"CREATE STREAM s (a INT) LATENESS {LATENESS}; CREATE STREAM r (a INT) LATENESS {LATENESS}")
    query = session.query(text)
    inputs = [_events("s", s), _events("r", r)]
    run = Replay(session, [query], inputs, until, chunk=chunk)
    changes = [change for step in run.steps() for change in step.changes]
    assert not isinstance(query.now, datetime)
    return changes, query.now or 0


def _events(name: str, rows: Source) -> list[RecordedEvent]:
    return [RecordedEvent(ts, name, "+", (a,), f"{name} {i}") for i, (ts, a) in enumerate(rows)]


def pushed(s: Source, r: Source, text: str) -> list[SignedRow]:
    """The same without files or chunks: each stream as a whole, then one look."""
    session = tw.local()
    session.execute(f"CREATE STREAM s (a INT) LATENESS {LATENESS}; CREATE STREAM r (a INT) LATENESS {LATENESS}")
    query = session.query(text)
    session.push("s", s)
    session.push("r", r)
    session.advance(max(ts for ts, _ in s + r))
    return query.changes()


@given(sources, sources, st.sampled_from(QUERIES), st.integers(1, 4))
def test_where_the_replay_looks_does_not_show(s: Source, r: Source, text: str, chunk: int) -> None:
    found, _ = replayed(s, r, text, chunk)
    assert found == (pushed(s, r, text) if s or r else [])


@given(sources, sources, st.sampled_from(QUERIES), st.integers(0, 14))
def test_what_happens_until_t_is_what_would_have_happened_anyway(s: Source, r: Source, text: str, until: int) -> None:
    whole, end = replayed(s, r, text, chunk=100)
    found, _ = replayed(s, r, text, 100, until)
    assert [c for c in found if c[0] <= end] == [c for c in whole if c[0] <= until]


VALUES: dict[DataType, st.SearchStrategy[object]] = {
    DataType.BOOLEAN: st.booleans(),
    DataType.BIGINT: st.integers(INT64_MIN, INT64_MAX),
    DataType.DOUBLE: st.floats(allow_nan=False),
    DataType.STRING: st.text(min_size=1),
    DataType.TIMESTAMP: st.datetimes(),
    DataType.INTERVAL: st.timedeltas(timedelta(0), timedelta(days=999)),
}


@st.composite
def cells(draw: st.DrawFn) -> tuple[Field, object]:
    type_ = draw(st.sampled_from(sorted(VALUES, key=str)))
    return Field("c", type_), draw(st.none() | VALUES[type_])


@given(cells())
def test_what_is_written_reads_back(cell: tuple[Field, object]) -> None:
    field, value = cell
    assert read_text(field, as_text(value, null=""), "here") == read_plain(field, value, "here")


@given(st.lists(st.sampled_from(["a", "a_2", "b", "a_2_2"])))
def test_numbered_names_are_unique_and_come_from_their_names(names: list[str]) -> None:
    found = unique(names)
    assert len(set(found)) == len(names)
    assert all(new.startswith(old) for new, old in zip(found, names, strict=True))
