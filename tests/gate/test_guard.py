from __future__ import annotations

from math import isclose

from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.gate.guard import Arms, breaks_pinned, broken, fisher, suspect


def arms(live: int, candidate: int, of: int = 8) -> Arms:
    return Arms(
        live=(True,) * live + (False,) * (of - live),
        candidate=(True,) * candidate + (False,) * (of - candidate),
    )


def test_fisher_gives_the_textbook_value() -> None:
    # All eight pass under one and none under the other: 1 of C(16, 8) tables.
    assert isclose(fisher(arms(8, 0)), 1 / 12870)
    assert isclose(fisher(arms(3, 1, of=4)), 17 / 70)


@given(st.integers(0, 8), st.integers(0, 8))
@settings(max_examples=40)
def test_a_p_value_falls_with_every_further_loss(live: int, candidate: int) -> None:
    assert 0.0 < fisher(arms(live, candidate)) <= 1.0
    if candidate:
        assert fisher(arms(live, candidate - 1)) <= fisher(arms(live, candidate))


def test_two_of_three_lost_make_a_suspect_and_one_does_not() -> None:
    assert suspect(arms(3, 1, of=3))
    assert not suspect(arms(3, 2, of=3))
    assert not suspect(arms(1, 0, of=1))


def test_suspects_share_the_level() -> None:
    # One-sided p of 7 against 3 passes is 0.059, of 8 against 4 it is 0.038.
    assert broken([arms(8, 4)]) == (0,)
    assert broken([arms(8, 4), arms(8, 8)]) == ()
    assert broken([arms(7, 3)]) == ()
    assert broken([arms(8, 8), arms(8, 0)]) == (1,)
    assert broken([]) == ()


def test_a_pinned_task_breaks_after_two_failures_of_three_unless_it_failed_before() -> None:
    assert breaks_pinned(arms(3, 1, of=3))
    assert breaks_pinned(arms(2, 1, of=3))
    assert not breaks_pinned(arms(3, 2, of=3))
    assert not breaks_pinned(arms(1, 0, of=3))
