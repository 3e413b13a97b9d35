"""Files need not outlive a power cut here."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thalweg.runtime.distributed.checkpoint.files.os.fsync", lambda _: None)
