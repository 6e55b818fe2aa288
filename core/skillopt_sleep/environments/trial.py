"""One attempt in a clone: the skill put in its place, the agent let in, its work read.

Judges nothing itself. What it hands on is redacted, and names the clone as the user's folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from skillopt_sleep.agents.confine import bare_env, confined
from skillopt_sleep.agents.forwarder import Toll
from skillopt_sleep.agents.launch import Told
from skillopt_sleep.environments.bench import Bench
from skillopt_sleep.environments.checkout import Checkout, Spot
from skillopt_sleep.environments.prompt import request
from skillopt_sleep.errors import BackendError, Fault
from skillopt_sleep.files import PRIVATE_FOLDER
from skillopt_sleep.judges import JUDGES, Judge
from skillopt_sleep.model.attempt import Outcome
from skillopt_sleep.model.skill import managed_document
from skillopt_sleep.model.task import Task
from skillopt_sleep.redact import redact
from skillopt_sleep.runners import Room, Runner

COMMANDS = "commands"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One attempt, from the empty folder to the outcome.

    Attributes:
        bench: Settings, judges, world.
        spot: What the clone is made of.
        runner: Who attempts it.
        top: An empty folder for all of it.
    """

    bench: Bench
    spot: Spot
    runner: Runner
    top: Path

    @cached_property
    def _checkout(self) -> Checkout:
        return Checkout(world=self.bench.world, spot=self.spot, top=self.top)

    @property
    def _room(self) -> Room:
        return Room(top=self.top, folder=self._checkout.folder, home=self.top / "home")

    @property
    def _place(self) -> str:
        return f"{self.runner.skills}/{self.bench.settings.skill.name}"

    def run(self, task: Task, skill: str, toll: Toll) -> Told:
        """Clone, put ``skill`` where the client looks, and let the agent attempt ``task``.

        Raises:
            BudgetSpentError: ``toll`` refused a request.
            BackendError: The clone could not be made, or the client failed.
            ConfigError: The client has no model and no login.
        """
        if failed := self._checkout.make():
            raise BackendError(failed, fault=Fault.MALFORMED)
        (self._room.home / "tmp").mkdir(parents=True, mode=PRIVATE_FOLDER)
        self._put(skill)
        name = self.bench.settings.skill.name if skill.strip() else ""
        return self.runner.run(request(task), self._room, skill=name, toll=toll)

    def outcome(self, told: Told) -> Outcome:
        """Return what the agent left, for judges and for keeping."""
        return Outcome(
            answer=self._tidy(told.answer),
            steps=tuple(
                replace(s, text=self._tidy(s.text), arguments=self._tidy(s.arguments))
                for s in told.steps
            ),
            commands=tuple(map(self._tidy, told.commands)),
            tools=told.tools,
            workspace=str(self._room.folder),
            diff=self._tidy(self._checkout.diff(without=(self._place,))),
        )

    def judges(self) -> Mapping[str, Judge]:
        """Return the judges; commands run in the clone, as confined as the agent was."""
        world = self.bench.world
        inside = replace(world, run=confined(world, self.top), env=bare_env(world, self._room.home))
        return {**self.bench.judges, COMMANDS: JUDGES.factory(COMMANDS)(inside, None)}

    def _put(self, skill: str) -> None:
        """Put the skill, and nothing else of its name, where the client looks."""
        folder = self._checkout.folder / self._place
        shutil.rmtree(folder, ignore_errors=True)
        if not skill.strip():
            return
        folder.mkdir(parents=True)
        settings = self.bench.settings.skill
        # A client lists only what names itself in front matter.
        named = skill.startswith("---")
        head = "" if named else managed_document(settings.name, settings.description)
        (folder / "SKILL.md").write_text(head + skill, encoding="utf-8")

    def _tidy(self, text: str) -> str:
        clone, own = str(self._checkout.root), str(self.spot.repository)
        return redact(text.replace(clone, own).replace(str(self.top), "~workspace"))
