"""The front door: one object with a desk for each thing a user does; faces talk to nothing else.

Opening it is cheap; the database is opened by the first desk that needs it, and a change to a
live skill that a crash cut off is finished or undone then.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from skillopt_sleep.codec import plain
from skillopt_sleep.config import Config
from skillopt_sleep.engine.archive import Archive
from skillopt_sleep.engine.canaries import Canaries
from skillopt_sleep.engine.doctor import Doctor
from skillopt_sleep.engine.gate import GateDesk
from skillopt_sleep.engine.handoff import Handoff
from skillopt_sleep.engine.installs import Installs
from skillopt_sleep.engine.jobs import Jobs
from skillopt_sleep.engine.nights import Nights
from skillopt_sleep.engine.replays import Replays
from skillopt_sleep.engine.review import Review
from skillopt_sleep.engine.setup import Setup
from skillopt_sleep.engine.skills import Skills
from skillopt_sleep.engine.tasks import TaskChange, Tasks
from skillopt_sleep.engine.training import Elsewhere, Training, read_skill
from skillopt_sleep.files import make_private, read_or_none
from skillopt_sleep.model.progress import Progress, silent
from skillopt_sleep.model.status import Finding, Status
from skillopt_sleep.pool import Cancel
from skillopt_sleep.report import cost_line, funnel_lines, total
from skillopt_sleep.staging.stage import summary
from skillopt_sleep.store.database import Database
from skillopt_sleep.world import World

__all__ = [
    "Cancel",
    "Elsewhere",
    "Engine",
    "TaskChange",
    "cost_line",
    "funnel_lines",
    "plain",
    "read_skill",
    "summary",
    "total",
]

DATABASE = "sleep.sqlite"


class Engine:
    """Everything the product can do, on one world under one configuration."""

    def __init__(self, world: World, config: Config) -> None:
        self.world = world
        self.config = config

    @cached_property
    def database(self) -> Database:
        """The store; opened, migrated and recovered at first use.

        Raises:
            StoreError: It is corrupt, locked, or newer than this program.
        """
        database = Database(make_private(self.world.roots.data) / DATABASE)
        Review(self.world, self.config, database).recover()
        return database

    @property
    def archive(self) -> Archive:
        """Logs harvested, sessions listed and forgotten."""
        return Archive(self.world, self.config, self.database)

    @property
    def tasks(self) -> Tasks:
        """What recurs."""
        return Tasks(self.world, self.config, self.database)

    @property
    def nights(self) -> Nights:
        """Nights run and reported."""
        return Nights(self.world, self.config, self.database)

    @property
    def replays(self) -> Replays:
        """Single tasks attempted once more."""
        return Replays(self.world, self.config, self.database)

    @property
    def jobs(self) -> Jobs:
        """Nights in processes of their own."""
        return Jobs(self.world)

    @property
    def handoff(self) -> Handoff:
        """Prompts that wait for the user's own agent."""
        return Handoff(self.world, self.config, self.database)

    @property
    def review(self) -> Review:
        """Proposals shown and decided."""
        return Review(self.world, self.config, self.database)

    @property
    def skills(self) -> Skills:
        """The live skill, rule by rule."""
        return Skills(self.world, self.config, self.database)

    @property
    def training(self) -> Training:
        """Skills trained and scored on given tasks."""
        return Training(self.world, self.config, self.database)

    @property
    def gate(self) -> GateDesk:
        """What the gate is worth."""
        return GateDesk(self.world, self.config, self.database)

    @property
    def setup(self) -> Setup:
        """What is read and sent, and the user's yes to it."""
        return Setup(self.world, self.config)

    @property
    def installs(self) -> Installs:
        """Into harnesses and out of them."""
        return Installs(self.world)

    def status(self) -> Status:
        """Return how things stand for the project the user stands in."""
        return Doctor(self.world, self.config, self.database).status()

    def skill_text(self) -> str:
        """Return the text of the live skill that nights work on, "" where there is none."""
        content = read_or_none(Path(self.status().skill))
        return "" if content is None else content.decode(errors="replace")

    def doctor(self) -> tuple[Finding, ...]:
        """Return one finding per thing a night needs."""
        return Doctor(self.world, self.config, self.database).findings()

    def canaries(self, progress: Progress = silent) -> tuple[Finding, ...]:
        """Return what became of a good, an idle and a harmful edit; see ``Canaries``."""
        return Canaries(self.world, self.config, self.database).findings(progress)

    def close(self) -> None:
        """Close the database, if it was opened."""
        if "database" in self.__dict__:
            self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
