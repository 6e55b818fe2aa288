"""Scores of skills on splits, and how they carry over to other models."""

from __future__ import annotations

from tests.optimizer.bench import Agent, make_task

from skillopt_sleep.model.score import Metric
from skillopt_sleep.optimizer.score import Target, evaluate_skill, transfer

TASKS = [make_task(n) for n in range(4)]


def test_failed_attempts_are_left_out_of_the_mean_and_a_zero_is_not() -> None:
    agent = Agent(fails=lambda one: one.task.id == "train-3")
    score = evaluate_skill(agent, "Mention citron", TASKS)
    assert (score.attempts, score.failed) == (3, 1)
    assert score.by(Metric.MIXED) == 1 / 3
    assert score.failure_share == 0.25
    nothing = evaluate_skill(agent, "", TASKS)
    assert (nothing.attempts, nothing.hard) == (3, 0.0)
    assert nothing.interval is not None
    assert 0.5 < nothing.interval.high < 1.0


def test_every_task_is_tried_as_often_as_asked() -> None:
    agent = Agent()
    assert evaluate_skill(agent, "", TASKS, draws=3).attempts == 12
    assert {one.draw for one in agent.asked} == {0, 1, 2}


def test_a_transfer_matrix_shows_the_gain_over_no_skill_on_the_same_target() -> None:
    targets = [
        Target(model="m1", harness="prompt", rollouts=Agent()),
        Target(model="m2", harness="prompt", rollouts=Agent(luck=1.0)),
    ]
    cells = transfer(
        {"one": "Mention citron", "two": "Mention bramble. Mention harbor"}, targets, TASKS
    )
    assert [(cell.skill, cell.model, cell.score.hard, cell.gain) for cell in cells] == [
        ("", "m1", 0.0, 0.0),
        ("one", "m1", 0.25, 0.25),
        ("two", "m1", 0.5, 0.5),
        ("", "m2", 1.0, 0.0),
        ("one", "m2", 1.0, 0.0),
        ("two", "m2", 1.0, 0.0),
    ]
