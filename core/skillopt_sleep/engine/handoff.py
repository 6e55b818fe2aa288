"""The handoff desk: prompts of a waiting night for the user's own agent, and its answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.backends.handoff import Waiting, give_answer, handoff_folder, waiting
from skillopt_sleep.config import Config
from skillopt_sleep.errors import StoreError
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.nights import NightStore
from skillopt_sleep.world import World


@dataclass(frozen=True, slots=True)
class Handoff:
    """Shows what waits for an answer and takes answers."""

    world: World
    config: Config
    database: Database

    def prompts(self) -> tuple[Waiting, ...]:
        """Return the prompts of this project's waiting night that have no answer, by name."""
        folder = self._folder()
        return waiting(folder) if folder is not None else ()

    def answer(self, key: str, text: str) -> int:
        """Put an answer beside its prompt; return how many still wait.

        Raises:
            StoreError: No night of this project waits for answers.
            BackendError: No prompt has this key, or the answer is empty.
        """
        folder = self._folder()
        if folder is None:
            raise StoreError("no night of this project waits for answers; run one first")
        give_answer(folder, key, text)
        return len(waiting(folder))

    def _folder(self) -> Path | None:
        night = NightStore(self.database).unfinished(project=str(self.world.roots.cwd))
        if night is None:
            return None
        folder = handoff_folder(self.config.settings.target, self.world) / night.id
        return folder if folder.is_dir() else None
