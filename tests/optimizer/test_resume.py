"""A training run over the real replay and journal: what was paid for is never asked again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.optimizer.bench import advise, make_task

from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.backends.cached import CachedBackend
from skillopt_sleep.config import (
    BudgetSettings,
    GateSettings,
    OptimizerSettings,
    Settings,
    SkillSettings,
)
from skillopt_sleep.environments.bench import Bench
from skillopt_sleep.environments.prompt import PromptEnvironment
from skillopt_sleep.errors import BudgetSpentError
from skillopt_sleep.judges.score import all_judges
from skillopt_sleep.model.prompt import Prompt, Stage
from skillopt_sleep.model.task import Split
from skillopt_sleep.optimizer.advisor import Advisor
from skillopt_sleep.optimizer.course import Course, TrainOutcome
from skillopt_sleep.optimizer.train import train
from skillopt_sleep.optimizer.trainer import Trainer
from skillopt_sleep.pool import Cancel
from skillopt_sleep.replay import Replay
from skillopt_sleep.store.attempts import AttemptStore
from skillopt_sleep.store.calls import CallStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.testing import ScriptedBackend, fake_world

TASKS = tuple(make_task(n, split=split) for split in Split for n in range(4))
CALLS = 10_000


class Model:
    """Plays target and optimizer; after ``calls`` calls the budget is spent."""

    def __init__(self, calls: int = CALLS) -> None:
        self.left = calls
        self.answered: list[Prompt] = []

    def __call__(self, prompt: Prompt) -> str:
        if self.left == 0:
            raise BudgetSpentError("the budget is spent", what="calls")
        self.left -= 1
        self.answered.append(prompt)
        if prompt.stage is Stage.ATTEMPT:
            words = [w.split()[0] for w in prompt.system.split("Mention ")[1:]]
            return f"Here you are: {' '.join(words) or 'nothing'}"
        return advise(prompt)


def run(root: Path, model: Model) -> TrainOutcome:
    world = fake_world(root)
    database = Database(root / "data" / "x.db")
    try:
        calls = CallStore(database)
        meter = Meter(BudgetSettings(), calls, world, night="r1")
        backend = CachedBackend(
            ScriptedBackend(model), calls, meter, world, identity="scripted", night="r1"
        )
        bench = Bench(
            world=world,
            settings=Settings(),
            target=backend,
            judges=all_judges(world, None),
            tasks=TASKS,
            run="r1",
        )
        environment = PromptEnvironment(bench)
        trainer = Trainer(
            rollouts=Replay(
                environment, AttemptStore(database), night="r1", workers=4, cancel=Cancel()
            ),
            advisor=Advisor(backend),
            settings=OptimizerSettings(epochs=2, batch_size=2, minibatch_size=1, edit_budget=1),
            skill=SkillSettings(),
            rng=Random,
        )
        by_split = {split: [t for t in environment.tasks() if t.split is split] for split in Split}
        return train(
            Course(
                trainer=trainer,
                gate=GateSettings(policy="strict"),
                train=tuple(by_split[Split.TRAIN]),
                held_out=tuple(by_split[Split.HELD_OUT]),
                test=tuple(by_split[Split.SEALED]),
                folder=root / "run",
            )
        )
    finally:
        database.close()


def test_a_run_that_is_cut_off_again_and_again_asks_for_nothing_twice(tmp_path: Path) -> None:
    whole = Model()
    wanted = run(tmp_path / "whole", whole)
    assert wanted.final.hard > wanted.baseline.hard
    answered: list[Prompt] = []
    for calls in (5, 3, 7, 1, 11, CALLS):
        model = Model(calls)
        if calls < CALLS:
            with pytest.raises(BudgetSpentError):
                run(tmp_path / "cut", model)
        else:
            found = run(tmp_path / "cut", model)
            assert replace(found, folder="") == replace(wanted, folder="")
        answered += model.answered
    assert sorted(map(repr, answered)) == sorted(map(repr, whole.answered))


def test_only_the_target_model_is_asked_about_held_out_and_sealed_tasks(tmp_path: Path) -> None:
    model = Model()
    run(tmp_path, model)
    asked = [repr(prompt) for prompt in model.answered if prompt.stage is not Stage.ATTEMPT]
    assert asked
    assert not [text for text in asked if "held_out" in text or "sealed" in text]
    hidden = [p for p in model.answered if p.stage is Stage.ATTEMPT and "held_out" in repr(p)]
    assert hidden
    assert all(prompt.blind for prompt in hidden)
