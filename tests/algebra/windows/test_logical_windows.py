"""Would catch a window bound that is off by one, a slide rounded the wrong way, or a landmark that lets go (W1)."""

from __future__ import annotations

import pytest

from algebra.windows.draw import arrivals, shown
from thalweg.algebra.windows import Landmark, Now, Range, Scope, Unbounded
from thalweg.core.errors import WindowError
from thalweg.core.time import BEGINNING, FOREVER


def test_range_is_half_open_and_starts_half_filled() -> None:
    # t       1   2    3     4     5     6    7   8
    # arrive  a   b    c     .     d     .    .   .
    # scope   (-2,1]   (0,3]       (2,5]      (4,7]
    assert shown(Range(3), arrivals("abc.d..."), range(1, 9)) == "a ab abc bc cd d d -"


def test_ties_enter_and_leave_together() -> None:
    # t       1   2    3    4    5
    # arrive  a   bc   .    d    .
    assert shown(Range(2), arrivals("a(bc).d."), range(1, 6)) == "a abc bc d d"


def test_slide_moves_both_ends_at_multiples() -> None:
    # t       1   2   3   4    5    6     7     8    9    10
    # arrive  a   b   .   c    d    .     .     .    .    .
    # end     0   2   2   4    4    6     6     8    8    10
    # (e-4,e]     1-2     1-4       3-6         5-8       7-10
    assert shown(Range(4, 2), arrivals("ab.cd....."), range(1, 11)) == "- ab ab abc abc cd cd d d -"


def test_tumbling_states_are_disjoint() -> None:
    # t       1   2   3    4    5    6    7    8    9
    # arrive  a   b   c    d    .    e    f    .    .
    # end     0   0   3    3    3    6    6    6    9
    window = Range(3, 3)
    assert window.is_tumbling
    assert shown(window, arrivals("abcd.ef.."), range(1, 10)) == "- - abc abc abc de de de f"


def test_a_slide_longer_than_the_range_skips_tuples() -> None:
    # t       1   2   3   4    5   6   7   8
    # arrive  a   b   c   d    e   f   g   h
    # end     0   0   0   4    4   4   4   8      shows (e-2, e]
    assert shown(Range(2, 4), arrivals("abcdefgh"), range(1, 9)) == "- - - cd cd cd cd gh"


def test_slides_count_from_the_origin() -> None:
    # t       1   2   3   4   5    6    7    8    9
    # arrive  a   b   c   d   e    f    .    .    .
    # end     1   1   1   1   5    5    5    5    9       1 + 4n
    assert shown(Range(4, 4, origin=1), arrivals("abcdef..."), range(1, 10)) == "a a a a bcde bcde bcde bcde f"


def test_the_origin_may_lie_in_the_future() -> None:
    assert Range(4, 4, origin=9).scope(3) == Scope(-2, 1)


def test_now_shows_one_instant() -> None:
    # t       1   2    3   4
    # arrive  a   bc   .   d
    assert shown(Now(), arrivals("a(bc).d"), range(1, 6)) == "a bc - d -"


def test_unbounded_lets_nothing_go() -> None:
    assert shown(Unbounded(), arrivals("a.b.."), range(6)) == "- a a ab ab ab"


def test_a_lower_landmark_starts_late_and_never_ends() -> None:
    # t       1   2   3   4    5
    # arrive  a   b   c   d    .
    # scope   -   -   [3,3]   [3,5]
    assert shown(Landmark(start=3), arrivals("abcd."), range(1, 6)) == "- - c cd cd"


def test_an_upper_landmark_freezes() -> None:
    # t       1   2    3     4     5
    # arrive  a   b    c     d     e
    # scope             (.., 3]
    assert shown(Landmark(end=3), arrivals("abcde"), range(1, 6)) == "a ab abc abc abc"


def test_a_fixed_band_does_both() -> None:
    # t       1   2   3    4    5
    # arrive  a   b   c    d    e
    # scope   -   [2,2] [2,3] [2,3] ...
    assert shown(Landmark(2, 3), arrivals("abcde"), range(1, 6)) == "- b bc bc bc"


def test_lifetimes_of_single_tuples() -> None:
    assert Range(4, 2).lifetime(3) == (4, 8)
    assert Range(4, 2).lifetime(4) == (4, 8)
    assert Now().lifetime(3) == (3, 4)
    assert Unbounded().lifetime(3) == (3, FOREVER)
    assert Landmark(2, 5).lifetime(3) == (3, FOREVER)
    assert Landmark(2, 5).lifetime(7) == (7, 7)
    assert Landmark(end=5).scope(9) == Scope(BEGINNING, 5)


def test_extents_that_make_no_sense_are_refused() -> None:
    with pytest.raises(WindowError, match="RANGE must be greater than zero, got 0"):
        Range(0)
    with pytest.raises(WindowError, match="SLIDE must be greater than zero, got -1"):
        Range(1, -1)
    with pytest.raises(WindowError, match="must start before it ends"):
        Landmark(5, 3)
