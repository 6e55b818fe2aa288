"""From a training configuration and an environment's tasks to a course; reads no file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.model.progress import Progress, silent
from skillopt_sleep.model.task import Split, Task
from skillopt_sleep.optimizer.advisor import Advisor
from skillopt_sleep.optimizer.course import Course
from skillopt_sleep.optimizer.runconfig import TrainConfig
from skillopt_sleep.optimizer.trainer import Trainer
from skillopt_sleep.replay import Rollouts
from skillopt_sleep.world import Random

SPLITS = {"train": Split.TRAIN, "val": Split.HELD_OUT, "test": Split.SEALED}
"""The paper's names of the splits."""


def trainer_for(
    config: TrainConfig,
    *,
    rollouts: Rollouts,
    advisor: Advisor,
    rng: Callable[[str | int], Random],
    progress: Progress = silent,
) -> Trainer:
    """Return the trainer that ``config`` asks for.

    Args:
        config: As loaded.
        rollouts: Attempts tasks with the target model.
        advisor: The optimizer's model.
        rng: Seeded generators, as ``World.rng``.
        progress: Watches.
    """
    return Trainer(
        rollouts=rollouts,
        advisor=advisor,
        settings=config.optimizer,
        skill=config.skill,
        rng=rng,
        seed=config.seed,
        progress=progress,
    )


def enrol(
    config: TrainConfig, tasks: Sequence[Task], trainer: Trainer, *, folder: Path, initial: str = ""
) -> Course:
    """Return the training run that ``config`` asks for.

    Args:
        config: As loaded.
        tasks: All tasks of the environment; the sealed split is the test split.
        trainer: Makes the candidates.
        folder: The run folder.
        initial: The document to begin with; "" for none.
    """
    return Course(
        trainer=trainer,
        gate=config.gate,
        train=on_split(tasks, "train", limit=config.train_limit),
        held_out=on_split(tasks, "val", limit=config.held_out_limit),
        test=on_split(tasks, "test", limit=config.test_limit),
        initial=initial,
        folder=folder,
        config=config.resolved(),
        max_failure_share=config.budget.max_failure_share,
    )


def on_split(tasks: Sequence[Task], name: str, *, limit: int = 0) -> tuple[Task, ...]:
    """Return the tasks of a split by the paper's name for it, at most ``limit``; 0 is all.

    Raises:
        ConfigError: There is no such split.
    """
    if name not in SPLITS:
        raise ConfigError(f"no split is called {name!r}; known: {', '.join(SPLITS)}")
    found = [task for task in tasks if task.split is SPLITS[name]]
    return tuple(found[:limit] if limit else found)
