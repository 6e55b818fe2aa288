"""The training desk: a skill trained on a configured set of tasks, scored, and tried elsewhere.

It brings models, tasks and the run folder together; what is learned and decided is not its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.codec import digest
from skillopt_sleep.config import Config, Settings
from skillopt_sleep.cycle.cast import Cast, assemble
from skillopt_sleep.cycle.prepare import read_live
from skillopt_sleep.engine.setup import Setup
from skillopt_sleep.environments import ENVIRONMENTS, Environment
from skillopt_sleep.environments.bench import Bench
from skillopt_sleep.errors import ConfigError, SkillError
from skillopt_sleep.judges.score import all_judges
from skillopt_sleep.mine.taskfile import import_tasks
from skillopt_sleep.model.progress import Progress, silent
from skillopt_sleep.model.task import Task
from skillopt_sleep.optimizer.advisor import Advisor
from skillopt_sleep.optimizer.course import TrainOutcome
from skillopt_sleep.optimizer.enrol import enrol, on_split, trainer_for
from skillopt_sleep.optimizer.runconfig import TrainConfig, load_train_config
from skillopt_sleep.optimizer.score import (
    SkillScore,
    Target,
    TransferCell,
    evaluate_skill,
    transfer,
)
from skillopt_sleep.optimizer.train import train
from skillopt_sleep.pool import Cancel
from skillopt_sleep.replay import Replay
from skillopt_sleep.runners import RUNNER_OF, RUNNERS
from skillopt_sleep.store.attempts import AttemptStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.tasks import TaskStore
from skillopt_sleep.world import World

PROMPT, WORKSPACE = "prompt", "workspace"
TASKS = "tasks"
"""Option that names a file of tasks, in the format of ``tasks export``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Where else a skill is tried.

    Attributes:
        model: Model id of the configured backend, or "" for the configured one.
        harness: Name of an agent that works in a clone, or "" as configured.
    """

    model: str = ""
    harness: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """A configuration with everything that it takes to attempt its tasks."""

    config: TrainConfig
    cast: Cast
    environment: Environment
    replay: Replay


@dataclass(frozen=True, slots=True)
class Training:
    """Trains and scores skills on the tasks that a configuration file names."""

    world: World
    config: Config
    database: Database

    def train(
        self,
        path: Path,
        overrides: Sequence[str] = (),
        *,
        progress: Progress = silent,
        cancel: Cancel | None = None,
    ) -> TrainOutcome:
        """Train as ``path`` says, or go on with the run that stands in its folder.

        Args:
            path: A YAML or TOML file.
            overrides: Texts ``a.b=value`` that are stronger than the file.
            progress: Told how far it is.
            cancel: Raised to stop; the run can be resumed.

        Raises:
            ConfigError: The configuration is wrong, or there is nothing to train or judge on.
            ConsentError: Text would go to a place that nobody agreed to.
            BusyError: Another process trains in this folder.
            TaskFileError: A line of the task file is wrong.
            SkillError: The document to begin with cannot be read.
            BackendError: A model could not be asked, or a budget is spent; run again to resume.
        """
        stopped = cancel or Cancel()
        room = self._room(path, overrides, progress=progress, cancel=stopped)
        config = room.config
        trainer = trainer_for(
            config,
            rollouts=room.replay,
            advisor=Advisor(room.cast.optimizer, workers=config.workers, cancel=stopped),
            rng=self.world.rng,
            progress=progress,
        )
        initial = read_skill(path.parent / config.initial) if config.initial else ""
        course = enrol(
            config,
            room.environment.tasks(),
            trainer,
            folder=self._folder(path, config),
            initial=initial,
        )
        return train(course)

    def score(
        self,
        path: Path,
        overrides: Sequence[str] = (),
        *,
        document: str,
        split: str,
        draws: int = 1,
        progress: Progress = silent,
    ) -> SkillScore:
        """Return what a skill document reaches on a split; raises as ``train``.

        Args:
            path: A YAML or TOML file.
            overrides: Texts ``a.b=value`` that are stronger than the file.
            document: The skill's text, "" for none.
            split: "train", "val" or "test".
            draws: Tries of each task, >= 1.
            progress: Told how far it is.
        """
        room = self._room(path, overrides, progress=progress, cancel=Cancel())
        return evaluate_skill(room.replay, document, _split(room, split), draws=draws)

    def transfer(
        self,
        path: Path,
        overrides: Sequence[str] = (),
        *,
        skills: Mapping[str, str],
        places: Sequence[Elsewhere],
        split: str,
        draws: int = 1,
        progress: Progress = silent,
    ) -> tuple[TransferCell, ...]:
        """Return what each skill, and none, reaches in each place; raises as ``train``.

        Args:
            path: A YAML or TOML file.
            overrides: Texts ``a.b=value`` that are stronger than the file.
            skills: Documents by name.
            places: Models and harnesses.
            split: "train", "val" or "test".
            draws: Tries of each task, >= 1.
            progress: Told how far it is.
        """
        targets: list[Target] = []
        tasks: tuple[Task, ...] = ()
        for place in places:
            room = self._room(path, overrides, progress=progress, cancel=Cancel(), place=place)
            tasks = _split(room, split)
            targets.append(
                Target(
                    model=room.config.target.model,
                    harness=place.harness or room.config.environment,
                    rollouts=room.replay,
                )
            )
        return transfer(skills, targets, tasks, draws=draws)

    def _room(
        self,
        path: Path,
        overrides: Sequence[str],
        *,
        progress: Progress,
        cancel: Cancel,
        place: Elsewhere | None = None,
    ) -> _Room:
        config = _moved(self._with_models(load_train_config(path, overrides)), place)
        settings = _settings(self.config.settings, config, harness=place.harness if place else "")
        Setup(self.world, Config(settings=settings, origins={})).require()
        run = f"train-{digest(config.resolved(), config.folder)}"
        cast = assemble(
            self.world, settings, self.database, night=run, cancel=cancel, progress=progress
        )
        bench = Bench(
            world=self.world,
            settings=settings,
            target=cast.target,
            judges=all_judges(self.world, cast.judge),
            tasks=self._tasks(path, config),
            meter=cast.meter,
            run=run,
            options=config.options,
        )
        environment = ENVIRONMENTS.factory(config.environment)(bench)
        replay = Replay(
            environment,
            AttemptStore(self.database),
            night=run,
            workers=config.workers,
            cancel=cancel,
            progress=progress,
        )
        return _Room(config=config, cast=cast, environment=environment, replay=replay)

    def _with_models(self, config: TrainConfig) -> TrainConfig:
        """Return the configuration with the user's own models where it names none."""
        if config.target.name:
            return config
        own = self.config.settings
        roles = ("target", "optimizer_backend", "judge_backend")
        return config.model_copy(update={role: getattr(own, role) for role in roles})

    def _tasks(self, path: Path, config: TrainConfig) -> tuple[Task, ...]:
        """Return the tasks of the file that is named, else those mined for this project."""
        if config.environment not in (PROMPT, WORKSPACE):
            return ()
        if TASKS not in config.options:
            return TaskStore(self.database).all(project=str(self.world.roots.cwd))
        file = path.parent / config.options[TASKS]
        try:
            return import_tasks(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"the tasks in {str(file)!r} cannot be read: {error}; name a file of lines as"
                " 'skillopt-sleep tasks export' writes them"
            ) from error

    def _folder(self, path: Path, config: TrainConfig) -> Path:
        if config.folder:
            return path.parent / config.folder
        return self.world.roots.data / "runs" / f"{path.stem}-{digest(config.resolved())[:8]}"


def read_skill(path: Path) -> str:
    """Return the text of a skill document.

    Raises:
        SkillError: There is none, or it is not UTF-8 text.
    """
    text = read_live(path)
    if text is None:
        raise SkillError(f"there is no skill document {str(path)!r}; name a file")
    return text


def _split(room: _Room, name: str) -> tuple[Task, ...]:
    config = room.config
    limits = {"train": config.train_limit, "val": config.held_out_limit, "test": config.test_limit}
    found = on_split(room.environment.tasks(), name, limit=limits.get(name, 0))
    if not found:
        raise ConfigError(f"there is no task on the split {name!r}; name another, or more tasks")
    return found


def _moved(config: TrainConfig, place: Elsewhere | None) -> TrainConfig:
    if place is None:
        return config
    target = config.target.model_copy(update={"model": place.model or config.target.model})
    environment = WORKSPACE if place.harness else config.environment
    return config.model_copy(update={"target": target, "environment": environment})


def _settings(own: Settings, config: TrainConfig, *, harness: str) -> Settings:
    replay = own.replay
    if harness:
        name = RUNNER_OF.get(harness, harness.replace("-", "_"))
        replay = replay.model_copy(update={"runner": RUNNERS.known(name)})
    mode = config.environment if config.environment in (PROMPT, WORKSPACE) else replay.mode
    return own.model_copy(
        update={
            "target": config.target,
            "optimizer_backend": config.optimizer_backend,
            "judge_backend": config.judge_backend,
            "optimizer": config.optimizer,
            "gate": config.gate,
            "budget": config.budget,
            "skill": config.skill,
            "replay": replay.model_copy(update={"mode": mode}),
        }
    )
