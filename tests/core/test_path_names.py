"""Would catch a name that leads out of its folder, or two names that share a file."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.effort import examples
from thalweg.core.path_names import path_name, place_of

SAFE = frozenset(string.ascii_letters + string.digits + "_-%.")
NAMES = st.text(st.characters(), max_size=300) | st.sampled_from(["..", "/", "a/b", "CON", "con.txt", "a\0b", "\ud800"])


@pytest.mark.parametrize("name", ["calls", "busy_2", "a-b", "q1"])
def test_plain_names_stay_as_they_are(name: str) -> None:
    assert path_name(name) == name


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("../../x", "%2E%2E%2F%2E%2E%2Fx"),
        (".", "%2E"),
        ("..", "%2E%2E"),
        ("", "%"),
        ("con", "%63on"),
        ("com1", "%63om1"),
        ("a b", "a%20b"),
        ("\u00e4", "%C3%A4"),
        ("100%", "100%25"),
        ("C:\\x", "C%3A%5Cx"),
    ],
)
def test_other_names_are_encoded(name: str, wanted: str) -> None:
    assert path_name(name).partition(".")[0] == wanted.partition(".")[0]


@examples(200)
@given(st.lists(NAMES, min_size=2, max_size=2, unique=True))
def test_any_two_names_have_two_safe_files(names: list[str]) -> None:
    one, other = map(path_name, names)
    for made in (one, other):
        assert set(made) <= SAFE
        assert 0 < len(made.encode()) <= 140
        assert not made.startswith(".")
        assert Path(made).name == made
    assert one.lower() != other.lower(), "some file systems do not tell capital letters from small ones"


@pytest.mark.parametrize(("one", "other"), [("Busy", "busy"), ("BUSY", "Busy"), ("con", "CON"), ("a" * 500, "a" * 501)])
def test_names_that_are_nearly_the_same_have_two_files(one: str, other: str) -> None:
    assert path_name(one).lower() != path_name(other).lower()


def test_what_an_older_version_has_made_goes_on(tmp_path: Path) -> None:
    assert place_of(tmp_path, "Busy") == tmp_path / path_name("Busy")
    (tmp_path / "Busy").mkdir()
    assert place_of(tmp_path, "Busy") == tmp_path / "Busy"
    assert place_of(tmp_path, "busy") == tmp_path / "busy"
    assert place_of(tmp_path / "Busy", "..") == tmp_path / "Busy" / "%2E%2E"
