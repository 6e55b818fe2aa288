"""A training run: what it reaches, what its folder holds, what a kill costs, what it keeps back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.optimizer.bench import WORDS, Agent, advise, make_task, make_trainer

from skillopt_sleep.config import GateSettings, OptimizerSettings
from skillopt_sleep.errors import BackendError, BudgetSpentError, BusyError, ConfigError, StoreError
from skillopt_sleep.model.prompt import Prompt
from skillopt_sleep.model.task import Split, Task
from skillopt_sleep.optimizer.course import Course, TrainOutcome
from skillopt_sleep.optimizer.runfolder import RunFolder
from skillopt_sleep.optimizer.train import train
from skillopt_sleep.testing import ScriptedBackend

TRAIN = tuple(make_task(n) for n in range(8))
HELD_OUT = tuple(make_task(n, split=Split.HELD_OUT) for n in range(8))
TEST = tuple(make_task(n, split=Split.SEALED) for n in range(4))
LOOP = OptimizerSettings(epochs=3, batch_size=4, minibatch_size=2, edit_budget=1)


def course_in(
    folder: Path,
    *,
    backend: ScriptedBackend | None = None,
    agent: Agent | None = None,
    loop: OptimizerSettings = LOOP,
    held_out: tuple[Task, ...] = HELD_OUT,
    policy: str = "strict",
) -> Course:
    return Course(
        trainer=make_trainer(agent or Agent(), backend or ScriptedBackend(advise), loop),
        gate=GateSettings.model_validate({"policy": policy}),
        train=TRAIN,
        held_out=held_out,
        test=TEST,
        folder=folder,
        config={"seed": 0},
    )


def test_a_run_learns_what_the_train_tasks_want_and_scores_it_on_the_test_split(
    tmp_path: Path,
) -> None:
    outcome = train(course_in(tmp_path))
    assert (outcome.baseline.hard, outcome.final.hard) == (0.0, 1.0)
    assert outcome.test_baseline is not None
    assert outcome.test_final is not None
    assert (outcome.test_baseline.hard, outcome.test_final.hard) == (0.0, 1.0)
    assert all(f"Mention {word}" in outcome.best for word in WORDS)
    assert [one.decision for one in outcome.history if one.decision == "accept"]


def test_the_run_folder_holds_every_artifact(tmp_path: Path) -> None:
    outcome = train(course_in(tmp_path))
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    step = {
        f"steps/0000/{name}.json"
        for name in ("rollouts", "patches", "merged", "ranking", "apply", "decision")
    }
    wanted = {
        "config.json",
        "state.json",
        "history.json",
        "totals.json",
        "scores.json",
        "best_skill.md",
        "epochs/00/meta.json",
        *step,
    }
    assert wanted <= names
    assert (tmp_path / "best_skill.md").read_text() == outcome.best
    assert len([name for name in names if name.startswith("skills/")]) >= 2
    totals = json.loads((tmp_path / "totals.json").read_text())
    assert totals["attempt"]["calls"] > 0
    assert totals["reflect"]["calls"] > 0
    assert (tmp_path / "state.json").stat().st_mode & 0o777 == 0o600


def test_guidance_is_set_from_the_second_epoch_on_and_is_gated_like_any_edit(
    tmp_path: Path,
) -> None:
    slow = [one for one in train(course_in(tmp_path)).history if one.kind == "slow"]
    assert slow
    assert all(one.epoch >= 1 for one in slow)
    assert {one.decision for one in slow} == {"reject"}


class Dies:
    """Answers like ``advise`` until a given call, then the budget is spent."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, prompt: Prompt) -> str:
        self.left -= 1
        if self.left < 0:
            raise BudgetSpentError("the budget is spent", what="calls")
        return advise(prompt)


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.integers(0, 16), min_size=1, max_size=2), st.integers(0, 10_000))
def test_a_resumed_run_equals_an_uninterrupted_one(
    tmp_path_factory: pytest.TempPathFactory, deaths: list[int], luck: int
) -> None:
    def course(folder: Path, backend: ScriptedBackend) -> Course:
        loop = LOOP.model_copy(update={"epochs": 2})
        return course_in(folder, backend=backend, agent=Agent(luck=luck / 20_000), loop=loop)

    whole = tmp_path_factory.mktemp("whole")
    wanted = train(course(whole, ScriptedBackend(advise)))
    broken = tmp_path_factory.mktemp("broken")
    for at in deaths:
        try:
            train(course(broken, ScriptedBackend(Dies(at))))
        except BudgetSpentError:
            continue
    found = train(course(broken, ScriptedBackend(advise)))
    assert replace(found, folder="") == replace(wanted, folder="")
    assert contents(broken) == contents(whole)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


def test_the_optimizer_sees_nothing_of_the_held_out_tasks(tmp_path: Path) -> None:
    def prompts(name: str, held_out: tuple[Task, ...]) -> tuple[list[str], TrainOutcome]:
        backend = ScriptedBackend(advise)
        # With the gate off every candidate is taken, so both runs hear the same word each time.
        outcome = train(
            course_in(tmp_path / name, backend=backend, held_out=held_out, policy="off")
        )
        return sorted(repr(prompt) for prompt in backend.asked), outcome

    easy, one = prompts("easy", HELD_OUT)
    other = tuple(make_task(n, split=Split.HELD_OUT, word=f"zephyr{n}") for n in range(50, 53))
    hard, two = prompts("hard", other)
    assert easy == hard
    assert one.final.hard != two.final.hard
    everything = "".join(hard)
    assert "zephyr" not in everything
    assert "held_out" not in everything
    assert "sealed" not in everything


def test_the_optimizer_hears_accepted_or_rejected_and_no_score(tmp_path: Path) -> None:
    backend = ScriptedBackend(advise)
    train(course_in(tmp_path, backend=backend, agent=Agent(luck=0.3)))
    history = json.loads((tmp_path / "history.json").read_text())
    scores = {str(one[side]) for one in history for side in ("live", "candidate")}
    telling = {score for score in scores if len(score) > 3}
    assert telling
    for prompt in backend.asked:
        assert not [score for score in telling if score in repr(prompt)]


def test_weights_on_tokens_turn_down_what_costs_more_at_equal_quality(tmp_path: Path) -> None:
    loop = LOOP.model_copy(update={"weight_tokens": 0.1, "epochs": 1})
    outcome = train(course_in(tmp_path, loop=loop))
    said = [one.reason for one in outcome.history if one.decision != "none"]
    assert said
    assert all(reason.startswith("the score weighted with cost moved by") for reason in said)


def test_too_many_failed_attempts_stop_the_run_and_are_no_zero(tmp_path: Path) -> None:
    agent = Agent(
        fails=lambda one: one.task.split is Split.HELD_OUT and one.task.id != "held_out-0"
    )
    with pytest.raises(BackendError, match="7 of 8 held-out attempts failed"):
        train(course_in(tmp_path, agent=agent))


def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    train(course_in(tmp_path))
    with pytest.raises(ConfigError, match="holds a run of another configuration"):
        train(replace(course_in(tmp_path), config={"seed": 1}))


def test_a_damaged_state_is_never_replaced(tmp_path: Path) -> None:
    train(course_in(tmp_path))
    (tmp_path / "state.json").write_text("{")
    with pytest.raises(StoreError, match="is damaged"):
        train(course_in(tmp_path))
    assert (tmp_path / "state.json").read_text() == "{"


def test_two_processes_never_train_in_one_folder(tmp_path: Path) -> None:
    with RunFolder(tmp_path).held(), pytest.raises(BusyError):
        train(course_in(tmp_path))


def test_a_run_without_held_out_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="found 8 train and 0 held-out tasks"):
        train(course_in(tmp_path, held_out=()))
