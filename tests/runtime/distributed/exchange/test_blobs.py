"""Large blobs between tasks; would catch bytes that differ, files that pile up, a missing file that is not reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.exchange.blobs import FILE_FROM_BYTES, BlobFiles, BlobRef
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.spark.tasks.messages import from_rows, to_rows


def test_messages_travel_whatever_their_size(tmp_path: Path) -> None:
    files = BlobFiles(tmp_path)
    blobs = [b"", b"x" * 10, b"y" * FILE_FROM_BYTES, b"z" * (3 * FILE_FROM_BYTES + 1), b"small again"]
    sent = [Message(MessageKind(i), i, i + 1, 7, 10**15 + i, 5, blob) for i, blob in enumerate(blobs)]
    rows = to_rows(sent, files, 3)
    assert rows.nbytes < FILE_FROM_BYTES, "large blobs do not travel with the rows"
    received = list(from_rows([rows], BlobFiles(tmp_path)))
    assert [(p[:6], bytes(p.blob)) for p in received] == [(p[:6], p.blob) for p in sent]
    assert len(list((tmp_path / "exchange" / "3").iterdir())) == 1
    assert list(from_rows([to_rows([], files, 3)], files)) == []


def test_a_task_that_is_run_again_writes_a_file_of_its_own(tmp_path: Path) -> None:
    files = BlobFiles(tmp_path)
    first, again = (files.write(0, [b"a" * FILE_FROM_BYTES])[0] for _ in range(2))
    assert first.file != again.file
    assert bytes(files.read(first)) == bytes(files.read(again)) == b"a" * FILE_FROM_BYTES


def test_files_of_older_batches_are_removed(tmp_path: Path) -> None:
    files = BlobFiles(tmp_path)
    files.remove_older(0)
    for batch in range(6):
        files.write(batch, [b"a" * FILE_FROM_BYTES])
        files.remove_older(batch)
    assert sorted(folder.name for folder in (tmp_path / "exchange").iterdir()) == ["4", "5"]


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"exchange/1/gone is missing, though a task of this micro-batch"):
        BlobFiles(tmp_path).read(BlobRef("1/gone", 0, 5, "0" * 16))
