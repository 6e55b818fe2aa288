"""From a configuration to a training run."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.optimizer.bench import Agent, advise, make_task

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.model.task import Split
from skillopt_sleep.optimizer.advisor import Advisor
from skillopt_sleep.optimizer.enrol import enrol, on_split, trainer_for
from skillopt_sleep.optimizer.runconfig import load_train_config
from skillopt_sleep.optimizer.train import train
from skillopt_sleep.testing import ScriptedBackend

TASKS = [make_task(n, split=split) for split in Split for n in range(4)]


def test_a_configured_run_trains_validates_and_tests_on_its_splits(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text("seed = 3\ntest_limit = 2\n[optimizer]\nepochs = 1\nminibatch_size = 2\n")
    config = load_train_config(path)
    trainer = trainer_for(
        config, rollouts=Agent(), advisor=Advisor(ScriptedBackend(advise)), rng=Random
    )
    course = enrol(config, TASKS, trainer, folder=tmp_path / "run", initial="# Mine\n")
    assert (len(course.train), len(course.held_out), len(course.test)) == (4, 4, 2)
    assert {task.split for task in course.test} == {Split.SEALED}
    outcome = train(course)
    assert outcome.final.hard == 1.0
    assert outcome.best.startswith("# Mine\n")


def test_an_unknown_split_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="no split is called 'dev'; known: train, val, test"):
        on_split(TASKS, "dev")
