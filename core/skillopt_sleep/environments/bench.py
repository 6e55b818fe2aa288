"""What an environment is built from: the tasks, the model under test, the judges, the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.config import Settings
from skillopt_sleep.judges import Judge
from skillopt_sleep.model.task import Task
from skillopt_sleep.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Everything an environment may use.

    Attributes:
        world: Clock, processes, folders.
        settings: All settings; ``settings.target`` says how the model is asked.
        target: The model under test, metered, cached and retrying.
        judges: Judge by registry name, see ``judges.score.all_judges``.
        tasks: What to attempt; a benchmark loads its own and ignores these.
        meter: Counts and caps the calls that do not go through ``target``; None counts nothing.
        run: Id of the night or training run; attempts of different runs are different draws.
        options: What a benchmark wants besides, such as the folder of its data.
    """

    world: World
    settings: Settings
    target: Backend
    judges: Mapping[str, Judge]
    tasks: tuple[Task, ...] = ()
    meter: Meter | None = None
    run: str = ""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
