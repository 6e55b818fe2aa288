"""The tasks desk: what recurs, reviewed, pinned, dropped, exported and imported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from skillopt_sleep.config import Config
from skillopt_sleep.cycle.prepare import mined
from skillopt_sleep.mine.prompts import read_prompts
from skillopt_sleep.mine.recurrence import cluster
from skillopt_sleep.mine.semantic import load_embedder
from skillopt_sleep.mine.taskfile import export_tasks, import_tasks
from skillopt_sleep.model.mined import Mined
from skillopt_sleep.model.progress import Progress, silent
from skillopt_sleep.model.task import Cluster, Task
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.tasks import TaskStore
from skillopt_sleep.world import World

TaskChange = Literal["pin", "unpin", "drop", "restore"]


@dataclass(frozen=True, slots=True)
class Tasks:
    """Shows and changes the tasks of the project the user stands in."""

    world: World
    config: Config
    database: Database

    @property
    def _store(self) -> TaskStore:
        return TaskStore(self.database)

    @property
    def _project(self) -> str:
        return str(self.world.roots.cwd)

    def refresh(self, progress: Progress = silent) -> Mined:
        """Mine the archive anew, without a model."""
        return mined(
            self.world, self.config.settings, self.database, backend=None, progress=progress
        )

    def all(self) -> tuple[Task, ...]:
        """Return the tasks mined last, best score first."""
        return self._store.all(project=self._project)

    def clusters(self) -> tuple[Cluster, ...]:
        """Return the recurring requests mined last, best score first."""
        return self._store.clusters(project=self._project)

    def get(self, name: str) -> Task:
        """Return the task with this id, or with this unique beginning of one.

        Raises:
            StoreError: There is none, or several begin so.
        """
        return self._store.get(name)

    def named(self, name: str) -> tuple[Task, ...]:
        """Return the task of this name, or all tasks of the recurring request of this name.

        Args:
            name: An id, or the unique beginning of one.

        Raises:
            StoreError: There is none, or several begin so.
        """
        whole = [one for one in self.clusters() if name and one.id.startswith(name)]
        if len(whole) == 1:
            inside = set(whole[0].tasks)
            known = (*self.all(), *self._store.all(project=self._project, dropped=True))
            return tuple(task for task in known if task.id in inside)
        return (self.get(name),)

    def change(self, name: str, change: TaskChange) -> tuple[Task, ...]:
        """Pin, unpin, drop or restore what ``named`` finds; return it as it is now."""
        found = self.named(name)
        match change:
            case "pin" | "unpin":
                return tuple(self._store.pin(one.id, pinned=change == "pin") for one in found)
            case "drop" | "restore":
                return tuple(self._store.drop(one.id, dropped=change == "drop") for one in found)

    def export(self) -> str:
        """Return the tasks as lines that a person can review and edit."""
        return export_tasks(self.all())

    def load(self, text: str) -> int:
        """Take reviewed tasks; return how many.

        Raises:
            TaskFileError: A line is wrong; nothing was taken.
            StoreError: A task would move back behind the wall; nothing was taken.
        """
        tasks = import_tasks(text)
        self._store.take(tasks, project=self._project, now=self.world.now())
        return len(tasks)

    def cluster_file(self, path: Path) -> dict[str, str]:
        """Return prompt id to cluster name for a file with a JSON line per prompt.

        Raises:
            TaskFileError: A line is no prompt.
            ConfigError: Semantic clustering is asked for and no encoder is there.
        """
        prompts = read_prompts(path)
        mine = self.config.settings.mine
        embed = load_embedder(mine.semantic_folder) if mine.semantic else None
        numbers = cluster([text for _, text in prompts], embed=embed)
        return {name: f"c{n}" for (name, _), n in zip(prompts, numbers, strict=True)}
