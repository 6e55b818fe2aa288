"""An archive over a home folder that a test fills, and the corpus to fill it with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.config import HarvestSettings
from skillopt_sleep.model.session import HarvestReport, Session
from skillopt_sleep.sources.harvest import harvest
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.sessions import SessionStore
from skillopt_sleep.testing import fake_world

CORPUS = Path(__file__).parents[1] / "corpus"


@dataclass
class Archive:
    home: Path
    database: Database
    root: Path

    @property
    def store(self) -> SessionStore:
        return SessionStore(self.database)

    def put(self, name: str, rows: Sequence[object]) -> Path:
        """Write a JSON-lines file below the home folder."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    def lay_out(self, corpus: str, folder: str) -> Path:
        """Copy a corpus folder to the home folder under the harness's own name."""
        shutil.copytree(CORPUS / corpus, self.home / folder, dirs_exist_ok=True)
        return self.home / folder

    def harvest(self, *only: str, exclude: tuple[str, ...] = ()) -> HarvestReport:
        world = fake_world(self.root).at_home(self.home)
        return harvest(world, self.database, HarvestSettings(exclude=exclude), only=only)

    def sessions(self) -> list[Session]:
        return list(self.store.sessions())
