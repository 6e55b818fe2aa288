"""Forgetting: sessions and all that was made from them, in the database and in files beside it.

The harnesses' own logs, and a live skill that the human adopted, are not touched.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.backends.handoff import handoff_folder
from skillopt_sleep.config import Config
from skillopt_sleep.cycle.lock import some_night_runs
from skillopt_sleep.engine.nights import Nights
from skillopt_sleep.engine.setup import ROLES, role_settings
from skillopt_sleep.errors import BusyError
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.derived import purge_derived
from skillopt_sleep.store.nights import NightStore
from skillopt_sleep.store.sessions import SessionStore
from skillopt_sleep.world import World


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Purges sessions and what comes from them."""

    world: World
    config: Config
    database: Database

    def forget(self, *, session: str, repository: str, everything: bool) -> int:
        """Purge what is named; return how many sessions. Doing it again finishes what was cut off.

        Raises:
            BusyError: A night is running and would write down again what is purged.
            StoreError: Nothing was named, the session is not known, or the disk still holds it.
        """
        if some_night_runs(self.world):
            raise BusyError(
                "a night is running and has these sessions in hand; wait until it has ended or"
                " cancel it, then forget again"
            )
        store = SessionStore(self.database)
        gone = store.named(session=session, repository=repository, everything=everything)
        self._remove_pages()
        with self.database.transaction():
            numbers = purge_derived(self.database, gone, everything=everything)
            store.forget(session=session, repository=repository, everything=everything)
        self._remove_backups(numbers)
        self._tell_nights_anew()
        self.database.scrub()
        return len(gone)

    def _remove_pages(self) -> None:
        """Remove prompts left for the user's agent, and what detached nights printed."""
        nights = NightStore(self.database).all()
        for role in ROLES:
            folder = handoff_folder(role_settings(self.config, role), self.world)
            for night in nights:
                _remove(folder / night.id)
        _remove(self.world.roots.data / "jobs")

    def _remove_backups(self, numbers: tuple[int, ...]) -> None:
        folder = self.world.roots.data / "staging" / "backups"
        for number in numbers:
            for path in folder.glob(f"{number}-*.bak"):
                path.unlink()

    def _tell_nights_anew(self) -> None:
        """Write every night's report from what is left of it."""
        _remove(self.world.roots.data / "nights")
        desk = Nights(self.world, self.config, self.database)
        for night in NightStore(self.database).all():
            if night.ended_at is not None:
                desk.write(night)


def _remove(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
