"""Would catch a side output that fills the disk, rows that nobody counts, and counts that a restart loses."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.errors import DataError
from thalweg.runtime.distributed.checkpoint.layouts import Layout, Layouts
from thalweg.runtime.distributed.checkpoint.report import BAD_ROWS, LATE, SideOutput
from thalweg.runtime.distributed.ingest.quota import Quota
from thalweg.runtime.distributed.ingest.side_outputs import (
    SideOutputs,
    pack_side_output,
    read_side_output,
    rows_by_source,
    rows_not_kept,
)


def rows(count: int, width: int = 10) -> pa.Table:
    return pa.table({"_text": ["x" * width] * count})


@given(st.lists(st.integers(0, 30), max_size=8), st.integers(0, 60), st.integers(0, 2_000))
def test_kept_rows_fit_the_quota_and_none_is_forgotten(counts: list[int], most: int, size: int) -> None:
    quota, kept, held = Quota(most, size), 0, 0
    for count in counts:
        whole = rows(count)
        some = quota.rest(whole, kept, held)
        kept, held = kept + some.num_rows, held + some.nbytes
        assert kept <= most and held <= size
        if some.num_rows < count:  # one more would be too much
            more = whole.slice(0, some.num_rows + 1)
            assert kept + 1 > most or held - some.nbytes + more.nbytes > size


def test_beyond_the_quota_rows_are_counted_and_a_restart_goes_on(tmp_path: Path) -> None:
    Layouts(1, (Layout(0, 1),)).write(tmp_path)
    quotas = {"s": Quota(rows=5), "t": Quota(bytes=100)}
    outputs = SideOutputs(quotas)
    for batch in range(3):
        outputs.add_packed(BAD_ROWS, pack_side_output(rows(2), "s"))
        outputs.add_packed(LATE, pack_side_output(rows(2), "s"))
        outputs.add_packed(BAD_ROWS, pack_side_output(rows(3, width=30), "t"))
        outputs.write(tmp_path, batch, 0, 1)
        restored = SideOutputs(quotas)
        restored.restore(outputs.snapshot())
        assert restored.snapshot() == outputs.snapshot()
        outputs = restored
    found = {
        (kind, source): sum(t.num_rows for t in read_side_output(tmp_path, kind, source))
        for kind, source in ((BAD_ROWS, "s"), (LATE, "s"), (BAD_ROWS, "t"))
    }
    assert found == {(BAD_ROWS, "s"): 5, (LATE, "s"): 5, (BAD_ROWS, "t"): 2}
    assert rows_by_source(outputs.counts, BAD_ROWS) == {"s": 6, "t": 9}
    assert rows_not_kept(outputs.counts) == {
        SideOutput(LATE, "s"): 1, SideOutput(BAD_ROWS, "s"): 1, SideOutput(BAD_ROWS, "t"): 7,
    }  # fmt: skip


def test_quotas_of_shards_are_shares() -> None:
    assert Quota(10, 100).shared(4) == Quota(3, 25)
    with pytest.raises(DataError, match="no negative number"):
        Quota(rows=-1)
