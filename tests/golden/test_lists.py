"""Would catch a kind of state, or a part of plans, that changes without a word in docs/checkpoint-format.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden.archive import files, objects_in, unpack
from golden.listed import LISTS, PAGE, changed, import_all, on_page, table
from thalweg.kernel.state.snapshot import fields_of, kinds

HOW = """
Bring the page up to date: PYTHONPATH=tests python -m golden.listed
It refuses to change what was listed before: checkpoints have it, so it needs a new version that reads the old one.
"""


@pytest.mark.parametrize("of", LISTS)
def test_the_page_lists_what_checkpoints_hold(of: str) -> None:
    import_all()
    assert on_page(PAGE.read_text(encoding="utf-8"), of)[1] == table(of, LISTS[of]()), HOW


def test_objects_are_saved_with_the_fields_that_are_listed(tmp_path: Path) -> None:
    import_all()
    known = kinds()
    for number, file in enumerate(files()):
        for kind, parts in objects_in(unpack(file, tmp_path / str(number))[1]):
            assert kind not in known or parts == set(fields_of(known[kind])), kind


def test_a_change_of_what_was_listed_is_noticed() -> None:
    import_all()
    page = PAGE.read_text(encoding="utf-8")
    assert not list(changed(page))
    assert list(changed(page.replace("| `timeline/1` | ", "| `timeline/1` | `_more`, ")))
    assert list(changed(page.replace("| `join/1` |", "| `gone/1` |")))
    assert not list(changed(page.replace("| `range` | `width`, `[slide]`, ", "| `range` | `width`, ")))
    assert list(changed(page.replace("| `range` | `width`, ", "| `range` | ")))
