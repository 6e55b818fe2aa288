"""Training through the front door: a configuration file, a task file, a noisy model."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from benchmarks.noise import HARMFUL, HELPFUL, NAME, announce, task_lines

from skillopt_sleep.config import load
from skillopt_sleep.engine import Elsewhere, Engine
from skillopt_sleep.errors import ConfigError, ConsentError, TaskFileError
from skillopt_sleep.testing import MIDNIGHT, fake_world

CONFIG = f"""\
options: {{tasks: tasks.jsonl}}
seed: 3
target: {{name: {NAME}, model: "3", base_url: "http://127.0.0.1:9"}}
optimizer: {{epochs: 2, batch_size: 10}}
workers: 4
"""


@pytest.fixture
def engine(tmp_path: Path) -> Generator[Engine]:
    announce(tmp_path / "plugins")
    world = fake_world(tmp_path)
    (tmp_path / "run.yaml").write_text(CONFIG)
    (tmp_path / "tasks.jsonl").write_text(task_lines(3, members=2, at=MIDNIGHT))
    with Engine(world, load(world)) as opened:
        yield opened


def test_a_run_on_a_task_file_learns_the_helpful_rule_and_resumes_to_the_same(
    tmp_path: Path, engine: Engine
) -> None:
    outcome = engine.training.train(tmp_path / "run.yaml")
    assert HELPFUL in outcome.best
    assert outcome.final.hard > outcome.baseline.hard
    assert Path(outcome.folder, "best_skill.md").read_text() == outcome.best
    assert engine.training.train(tmp_path / "run.yaml") == outcome


def test_an_override_makes_another_run(tmp_path: Path, engine: Engine) -> None:
    limited = ["train_limit=5", "held_out_limit=5", "optimizer.epochs=1"]
    one = engine.training.train(tmp_path / "run.yaml", limited)
    two = engine.training.train(tmp_path / "run.yaml", [*limited, "seed=4"])
    assert one.folder != two.folder
    assert one.baseline.attempts == 5


def test_a_skill_is_scored_on_a_split_and_elsewhere(tmp_path: Path, engine: Engine) -> None:
    config = tmp_path / "run.yaml"
    none = engine.training.score(config, document="", split="val", draws=3)
    good = engine.training.score(config, document=HELPFUL, split="val", draws=3)
    assert none.attempts == 120
    assert good.hard > none.hard + 0.15
    cells = engine.training.transfer(
        config,
        skills={"good": HELPFUL, "bad": HARMFUL},
        places=[Elsewhere(), Elsewhere(model="8")],
        split="train",
        draws=3,
    )
    assert [(one.skill, one.model) for one in cells] == [
        (skill, model) for model in ("3", "8") for skill in ("", "good", "bad")
    ]
    assert all(one.gain > 0.1 for one in cells if one.skill == "good")
    assert all(one.gain < 0 for one in cells if one.skill == "bad")


def test_mined_tasks_of_the_project_are_trained_on_where_no_file_is_named(
    tmp_path: Path, engine: Engine
) -> None:
    (tmp_path / "own.yaml").write_text(CONFIG.split("\n", 1)[1])
    with pytest.raises(ConfigError, match="found 0 train and 0 held-out tasks"):
        engine.training.train(tmp_path / "own.yaml")
    engine.tasks.load((tmp_path / "tasks.jsonl").read_text())
    outcome = engine.training.train(tmp_path / "own.yaml", ["optimizer.epochs=1"])
    assert outcome.baseline.attempts == 40


def test_trouble_with_a_configuration_is_told_before_anything_is_asked(
    tmp_path: Path, engine: Engine
) -> None:
    config = tmp_path / "run.yaml"
    with pytest.raises(ConfigError, match=r"nowhere\.jsonl' cannot be read"):
        engine.training.train(config, ["options.tasks=nowhere.jsonl"])
    with pytest.raises(ConfigError, match="no task on the split 'test'"):
        engine.training.score(config, document="", split="test")
    with pytest.raises(ConsentError, match=r"'models\.example:443'"):
        engine.training.train(config, ["target.base_url=https://models.example:443"])
    (tmp_path / "tasks.jsonl").write_text("no json\n")
    with pytest.raises(TaskFileError, match="line 1"):
        engine.training.train(config)
