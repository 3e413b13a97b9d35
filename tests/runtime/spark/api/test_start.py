"""Would catch a checkpoint that cannot be written to and is reported by a trace of Java's."""

from __future__ import annotations

from pathlib import Path

import pytest

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.spark.api.start import _check_writable


def test_a_folder_that_cannot_be_written_to_is_refused_in_words(tmp_path: Path) -> None:
    _check_writable(Checkpoint(tmp_path / "new"))
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", Path("/proc/self")):  # not even the superuser can write there
        with pytest.raises(CheckpointError, match="cannot be written: ") as caught:
            _check_writable(Checkpoint(folder))
        assert "then start the query again" in str(caught.value)
