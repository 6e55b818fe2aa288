"""Verdicts to one score."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.judges.score import all_judges, judge_all, score
from skillopt_sleep.model.attempt import Outcome, Verdict
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.score import Score
from skillopt_sleep.model.task import Task
from skillopt_sleep.testing import fake_world

weights = st.lists(st.tuples(st.floats(0.1, 10), st.booleans()), min_size=1, max_size=8)


def check(name: str, weight: float = 1.0) -> Check:
    return Check(id=name, operator=Operator.CONTAINS, value="x", weight=weight)


def passed(name: str, share: float) -> Verdict:
    return Verdict(check=name, passed=share == 1.0, share=share)


@settings(max_examples=60, deadline=None)
@given(weights)
def test_hard_is_all_or_nothing_and_soft_is_the_weighted_share(
    given_weights: list[tuple[float, bool]],
) -> None:
    checks = [check(str(n), weight) for n, (weight, _) in enumerate(given_weights)]
    verdicts = [passed(str(n), float(ok)) for n, (_, ok) in enumerate(given_weights)]
    made = score(checks, verdicts)
    right = sum(weight for weight, ok in given_weights if ok)
    assert made.soft == pytest.approx(right / sum(weight for weight, _ in given_weights))
    assert made.hard == float(all(ok for _, ok in given_weights))


def test_a_part_of_the_way_counts_in_part() -> None:
    made = score([check("a", 3), check("b")], [passed("a", 0.5), passed("b", 1)])
    assert made == Score(hard=0.0, soft=0.625)


def test_verdicts_must_belong_to_the_checks() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        score([check("a")], [passed("b", 1)])
    with pytest.raises(ValueError, match="do not fit"):
        score([], [])


def test_a_task_without_a_check_cannot_be_judged(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no check"):
        judge_all(
            Task(id="t", cluster="c", prompt="p"),
            Outcome(answer="a"),
            all_judges(fake_world(tmp_path), None),
        )
