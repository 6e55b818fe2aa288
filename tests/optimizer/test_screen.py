from __future__ import annotations

from collections.abc import Sequence

from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.proposal import Candidate
from skillopt_sleep.model.score import Score
from skillopt_sleep.model.task import Task
from skillopt_sleep.optimizer.screen import finalists, screen, screen_all
from skillopt_sleep.replay import Rollout

TRAIN = [Task(id=name, cluster=name, prompt="p") for name in ("a", "b", "c")]


class Counted:
    """Passes the first so many of three draws, by (task, skill)."""

    def __init__(self, passes: dict[tuple[str, str], int]) -> None:
        self.passes = passes
        self.asked: list[tuple[str, str]] = []

    def __call__(self, wanted: Sequence[Rollout]) -> tuple[Attempt, ...]:
        self.asked += [(one.task.id, one.skill) for one in wanted]
        return tuple(self._attempt(one) for one in wanted)

    def _attempt(self, one: Rollout) -> Attempt:
        passed = float(one.draw < self.passes.get((one.task.id, one.skill), 0))
        return Attempt(
            id=f"{one.task.id}{one.skill}{one.draw}",
            task=one.task.id,
            cluster=one.task.cluster,
            skill_hash=one.skill,
            draw=one.draw,
            score=Score(hard=passed, soft=passed),
        )


def candidate(name: str, *motivating: str) -> Candidate:
    edit = Edit(kind=EditKind.ADD, text="say so", tasks=motivating)
    return Candidate(id=name, base_hash="", content=name, edits=(edit,), night="n")


def test_two_of_three_on_a_motivating_task_pass_the_screen() -> None:
    rollouts = Counted({("a", "new"): 2})
    outcome = screen(live="", candidate=candidate("new", "a"), train=TRAIN, rollouts=rollouts)
    assert outcome.passed
    assert outcome.fixed == ("a",)
    assert outcome.reason == "fixed 1 of 1 train tasks in 2 of 3 rollouts"
    assert {task for task, _ in rollouts.asked} == {"a"}


def test_one_of_three_does_not() -> None:
    rollouts = Counted({("a", "new"): 1})
    assert not screen(
        live="", candidate=candidate("new", "a"), train=TRAIN, rollouts=rollouts
    ).passed


def test_what_the_live_skill_passes_as_often_is_not_fixed() -> None:
    rollouts = Counted({("a", "new"): 3, ("a", ""): 3})
    assert not screen(
        live="", candidate=candidate("new", "a"), train=TRAIN, rollouts=rollouts
    ).passed


def test_an_edit_that_names_no_task_is_tried_on_all() -> None:
    rollouts = Counted({("c", "new"): 3})
    outcome = screen(live="", candidate=candidate("new"), train=TRAIN, rollouts=rollouts)
    assert (outcome.fixed, outcome.looked_at) == (("c",), 3)


def test_the_best_reach_the_test_and_a_challenger_that_is_half_as_good() -> None:
    rollouts = Counted(
        {("a", "weak"): 2, ("a", "fair"): 3, ("a", "good"): 3, ("b", "good"): 3, ("b", ""): 0}
    )
    screened = screen_all(
        live="",
        candidates=[candidate(name, "a", "b") for name in ("weak", "none", "good", "fair")],
        train=TRAIN,
        rollouts=rollouts,
    )
    assert finalists(screened, 3) == ("good", "fair")
    assert finalists(screened, 1) == ("good",)


def test_what_fixes_one_task_and_breaks_another_does_not_pass() -> None:
    rollouts = Counted({("a", "new"): 3, ("b", ""): 3})
    outcome = screen(live="", candidate=candidate("new", "a", "b"), train=TRAIN, rollouts=rollouts)
    assert outcome.fixed == ("a",)
    assert not outcome.passed
