"""The replay desk: one task attempted once more, for the user to watch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.config import Config, Settings
from skillopt_sleep.cycle.cast import assemble
from skillopt_sleep.cycle.prepare import read_live
from skillopt_sleep.engine.setup import Setup
from skillopt_sleep.errors import SkillError
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.progress import Progress, silent
from skillopt_sleep.model.task import Task
from skillopt_sleep.pool import Cancel
from skillopt_sleep.replay import Rollout
from skillopt_sleep.runners import RUNNER_OF, RUNNERS
from skillopt_sleep.staging.decide import live_path
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.tasks import TaskStore
from skillopt_sleep.world import World


@dataclass(frozen=True, slots=True)
class Replays:
    """Attempts tasks outside any night; nothing is decided by it."""

    world: World
    config: Config
    database: Database

    def attempt(
        self,
        task: Task,
        *,
        skill: Path | None = None,
        harness: str = "",
        draws: int = 1,
        progress: Progress = silent,
        cancel: Cancel | None = None,
    ) -> tuple[Attempt, ...]:
        """Attempt ``task`` so many times; one attempt each, in order.

        Args:
            task: What to attempt, see ``Tasks.get``.
            skill: A skill document, or None for the live one.
            harness: The agent that attempts it in a workspace, or "" as the settings say.
            draws: How many attempts, >= 1.
            progress: Told how far it is.
            cancel: Raised to stop.

        Raises:
            ConsentError: Text would go to a place that nobody agreed to.
            ConfigError: No model is chosen, or one is not fully described.
            UnknownPluginError: No agent is called ``harness``.
            SkillError: The skill cannot be read.
            BudgetSpentError: The budget is used up.
            CancelledError: Somebody asked to stop.
            BackendError: The key is bad.
        """
        Setup(self.world, self.config).require()
        settings = _with_harness(self.config.settings, harness)
        now = self.world.now().strftime("%Y%m%d-%H%M%S-%f")
        cast = assemble(
            self.world,
            settings,
            self.database,
            night=f"replay-{now}",
            cancel=cancel or Cancel(),
            progress=progress,
        )
        text = self._skill(skill)
        wanted = [Rollout(task=task, skill=text, draw=draw) for draw in range(draws)]
        return cast.replay([task])(wanted)

    def task(self, name: str) -> Task:
        """Return the task with this id, or with this unique beginning of one.

        Raises:
            StoreError: There is none, or several begin so.
        """
        return TaskStore(self.database).get(name)

    def _skill(self, path: Path | None) -> str:
        if path is None:
            said = self.config.settings.skill
            roots = self.world.roots
            live = live_path(said.target, name=said.name, project=roots.cwd, home=roots.home)
            return read_live(live) or ""
        text = read_live(path)
        if text is None:
            raise SkillError(f"there is no skill document {str(path)!r}; name a file")
        return text


def _with_harness(settings: Settings, harness: str) -> Settings:
    if not harness:
        return settings
    name = RUNNER_OF.get(harness, harness.replace("-", "_"))
    RUNNERS.factory(name)
    replay = settings.replay.model_copy(update={"mode": "workspace", "runner": name})
    return settings.model_copy(update={"replay": replay})
