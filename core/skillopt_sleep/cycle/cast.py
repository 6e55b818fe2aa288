"""Who takes part in a night: backends, judges, environment and replay, put together once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.batched import CAN_WAIT, Batches
from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.backends.build import build, for_judge, for_optimizer
from skillopt_sleep.config import Settings
from skillopt_sleep.environments import ENVIRONMENTS
from skillopt_sleep.environments.bench import Bench
from skillopt_sleep.judges.score import all_judges
from skillopt_sleep.model.progress import Progress
from skillopt_sleep.model.prompt import Stage
from skillopt_sleep.model.task import Task
from skillopt_sleep.pool import Cancel
from skillopt_sleep.replay import Replay
from skillopt_sleep.store.attempts import AttemptStore
from skillopt_sleep.store.calls import CallStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """The parts of one night.

    Attributes:
        world: Clock, folders, processes.
        settings: All settings.
        database: The store.
        night: The night's id.
        meter: Counts and caps every call.
        optimizer: Reflects and rewrites; never sees a held-out task.
        target: The model under test.
        judge: Judges by rubric.
        batches: Gathers what can wait for half the price.
        cancel: Raised to stop.
        progress: Told how far it is.
    """

    world: World
    settings: Settings
    database: Database
    night: str
    meter: Meter
    optimizer: Backend
    target: Backend
    judge: Backend
    batches: Batches
    cancel: Cancel
    progress: Progress

    @property
    def project(self) -> str:
        """Folder the night is run for."""
        return str(self.world.roots.cwd)

    def replay(self, tasks: Sequence[Task]) -> Replay:
        """Return what attempts ``tasks``; each distinct rollout once."""
        bench = Bench(
            world=self.world,
            settings=self.settings,
            target=self.target,
            judges=all_judges(self.world, self.judge),
            tasks=tuple(tasks),
            meter=self.meter,
            run=self.night,
        )
        return Replay(
            ENVIRONMENTS.factory(self.settings.replay.mode)(bench),
            AttemptStore(self.database),
            night=self.night,
            workers=self.settings.target.workers,
            cancel=self.cancel,
            progress=self.progress,
        )


def assemble(
    world: World,
    settings: Settings,
    database: Database,
    *,
    night: str,
    cancel: Cancel,
    progress: Progress,
) -> Cast:
    """Put a night's parts together.

    Raises:
        ConfigError: A model is not fully described.
        UnknownPluginError: A backend is not known.
    """
    calls = CallStore(database)
    meter = Meter(settings.budget, calls, world, night=night)
    roles = (settings.target, for_optimizer(settings), for_judge(settings))
    # An attempt in a workspace is too dear to be made again for its judge's sake.
    stages = CAN_WAIT if settings.replay.mode == "prompt" else frozenset({Stage.REFLECT})
    batches = Batches(calls, meter, world, cancel, night=night, stages=stages)
    target, optimizer, judge = (
        build(
            one,
            world,
            calls=calls,
            night=night,
            meter=meter,
            cancel=cancel,
            batches=batches,
        )
        for one in roles
    )
    return Cast(
        world=world,
        settings=settings,
        database=database,
        night=night,
        meter=meter,
        optimizer=optimizer,
        target=target,
        judge=judge,
        batches=batches,
        cancel=cancel,
        progress=progress,
    )
