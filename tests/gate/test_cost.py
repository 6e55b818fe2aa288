from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.gate.cost import cheaper, cost, saving
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.score import Score
from skillopt_sleep.model.usage import Usage

costs = st.floats(1, 1e6)


@given(costs, costs)
@settings(max_examples=40)
def test_a_saving_is_antisymmetric_and_bounded(live: float, candidate: float) -> None:
    assert saving(live, candidate) == pytest.approx(-saving(candidate, live))
    assert -1.0 <= saving(live, candidate) <= 1.0


def test_fifteen_percent_are_a_whole_saving() -> None:
    assert saving(100, 85) == pytest.approx(1.0)
    assert saving(100, 10) == 1.0
    assert saving(0, 10) == 0.0
    assert (cheaper(100, 85), cheaper(100, 86), cheaper(0, 0)) == (True, False, False)


def test_tokens_and_seconds_are_costs() -> None:
    attempt = Attempt(
        id="a",
        task="t",
        cluster="t",
        skill_hash="s",
        draw=0,
        score=Score(hard=1, soft=1),
        usage=Usage(input_tokens=10, output_tokens=5),
        seconds=2.5,
    )
    assert (cost(attempt, "tokens"), cost(attempt, "seconds"), cost(attempt, "none")) == (
        15,
        2.5,
        0,
    )
