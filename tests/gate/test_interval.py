from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.gate.interval import at_least, rate


def test_the_interval_is_that_of_clopper_and_pearson() -> None:
    # Known: no event in 100 gives 1 - 0.025 ** (1 / 100); 5 of 10 gives 0.187 to 0.813.
    none, half = rate(0, 100), rate(5, 10)
    assert (none.low, round(none.high, 4)) == (0.0, round(1 - 0.025**0.01, 4))
    assert (round(half.low, 3), round(half.high, 3)) == (0.187, 0.813)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=30)
def test_the_interval_holds_the_rate_and_mirrors(case: tuple[int, int]) -> None:
    hits, trials = case
    seen, mirrored = rate(hits, trials), rate(trials - hits, trials)
    assert seen.low <= seen.rate <= seen.high
    assert seen.low == pytest.approx(1 - mirrored.high)


def test_tails_are_probabilities() -> None:
    assert at_least(0, 10, 0.3) == pytest.approx(1.0)
    assert at_least(10, 10, 0.5) == pytest.approx(0.5**10)
    assert at_least(1, 4000, 0.001) == pytest.approx(1 - 0.999**4000)


@pytest.mark.parametrize(("hits", "trials"), [(1, 0), (0, 0), (3, 2), (-1, 2)])
def test_more_hits_than_trials_are_no_share(hits: int, trials: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        rate(hits, trials)
