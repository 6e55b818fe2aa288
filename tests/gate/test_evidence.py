from __future__ import annotations

from math import isclose, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.gate.evidence import LAMBDAS, Tally, difference, differs, extra_rollouts
from skillopt_sleep.gate.simulate import Rolled, course, peaks
from skillopt_sleep.model.score import Score

unit = st.floats(0, 1)
swings = st.lists(st.floats(-1, 1), max_size=40)
flags = st.lists(st.booleans(), min_size=5, max_size=5)


def by_hand(differences: list[float]) -> float:
    return sum(prod(1 + bet * d for d in differences) for bet in LAMBDAS) / len(LAMBDAS)


@given(swings)
@settings(max_examples=50)
def test_the_evidence_is_the_mixture_of_products(differences: list[float]) -> None:
    assert isclose(Tally.of(differences).e_value, by_hand(differences), rel_tol=1e-9)


@given(swings, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_the_final_evidence_does_not_depend_on_the_order(
    differences: list[float], random: object
) -> None:
    other = list(differences)
    random.shuffle(other)  # type: ignore[attr-defined]  # hypothesis types it as Random
    one, two = Tally.of(differences), Tally.of(other)
    assert (one.e_value, one.e_harm, one.log_sums) == (two.e_value, two.e_harm, two.log_sums)


@given(swings)
@settings(max_examples=50)
def test_swapping_the_arms_swaps_evidence_and_harm(differences: list[float]) -> None:
    tally, swapped = Tally.of(differences), Tally.of([-one for one in differences])
    assert (tally.e_value, tally.e_harm) == (swapped.e_harm, swapped.e_value)
    assert (tally.peak, tally.harm_peak) == (swapped.harm_peak, swapped.peak)


@given(swings, swings)
@settings(max_examples=50)
def test_nights_add_up_to_a_mixture_of_products(first: list[float], second: list[float]) -> None:
    carried = Tally.of(first)
    for one in second:
        carried = carried.add(one)
    assert carried == Tally.of([*first, *second])


def test_two_nights_are_not_a_product_of_mixtures() -> None:
    night = [1.0, 1.0, 1.0]
    assert Tally.of(night * 2).e_value > Tally.of(night).e_value ** 2 * 1.01


@given(st.lists(unit, min_size=1, max_size=5))
@settings(max_examples=30)
def test_identical_arms_are_no_evidence(scores: list[float]) -> None:
    assert difference(scores, scores) == 0.0
    assert Tally.of([0.0] * 20).e_value == 1.0


@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=5))
@settings(max_examples=50)
def test_a_difference_is_antisymmetric_and_bounded(pairs: list[tuple[float, float]]) -> None:
    live, candidate = [a for a, _ in pairs], [b for _, b in pairs]
    assert difference(live, candidate) == -difference(candidate, live)
    assert -1.0 <= difference(live, candidate) <= 1.0


@pytest.mark.parametrize("arms", [([], []), ([1.0], [1.0, 0.0])])
def test_unequal_arms_are_no_pair(arms: tuple[list[float], list[float]]) -> None:
    with pytest.raises(ValueError, match="as many of both"):
        difference(*arms)


@pytest.mark.parametrize(
    ("live", "candidate", "expected"),
    [
        (Score(hard=1, soft=1), Score(hard=0, soft=0.9), True),
        (Score(hard=0, soft=0.2), Score(hard=0, soft=0.8), True),
        (Score(hard=0, soft=0.2), Score(hard=0, soft=0.7), False),
        (Score(hard=1, soft=1), Score(hard=1, soft=1), False),
    ],
)
def test_outcomes_differ_in_hard_or_by_more_than_half_in_soft(
    live: Score, candidate: Score, *, expected: bool
) -> None:
    assert differs(live, candidate) is expected
    assert differs(candidate, live) is expected


def test_few_tasks_get_more_retries() -> None:
    assert [extra_rollouts(n) for n in (5, 24, 25, 40)] == [4, 4, 2, 2]


def test_five_clean_wins_support_and_six_adopt() -> None:
    assert Tally().wins_to(10) == 5
    assert Tally().wins_to(20) == 6


@given(swings.filter(bool))
@settings(max_examples=50)
def test_the_simulation_computes_the_same_evidence(differences: list[float]) -> None:
    array = np.array([differences])
    tally = Tally.of(differences)
    assert isclose(float(course(array)[0, -1]), tally.e_value, rel_tol=1e-9)
    assert isclose(float(peaks(array)[0]), tally.peak, rel_tol=1e-9)


@given(flags, flags)
@settings(max_examples=50)
def test_the_simulation_computes_the_same_differences(
    live: list[bool], candidate: list[bool]
) -> None:
    rolled = Rolled(live=np.array([[live]]), candidate=np.array([[candidate]]), extra=4)
    taken = 5 if live[0] != candidate[0] else 1
    expected = difference([float(x) for x in live[:taken]], [float(x) for x in candidate[:taken]])
    assert isclose(float(rolled.differences[0, 0]), expected, abs_tol=1e-12)
    assert float(rolled.rollouts[0]) == 2 * taken
