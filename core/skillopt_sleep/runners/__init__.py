"""Plugin point 6: a runner drives an agent CLI on a task in a workspace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from skillopt_sleep.agents.forwarder import Toll
from skillopt_sleep.agents.launch import Told
from skillopt_sleep.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where one attempt happens; all of it is thrown away afterwards.

    Attributes:
        top: The folder that holds all others; nothing outside it is written.
        folder: The folder to work in, a clone or a folder in one.
        home: Stands in for the user's home.
    """

    top: Path
    folder: Path
    home: Path


class Runner(Protocol):
    """Drives one agent CLI."""

    @property
    def name(self) -> str:
        """Registry name."""
        ...

    @property
    def version(self) -> str:
        """Version of the CLI, or "" where it is not installed."""
        ...

    @property
    def skills(self) -> str:
        """Folder, below the one it works in, where the CLI looks for skills by itself."""
        ...

    def obstacle(self) -> str:
        """Return why it cannot attempt anything here, in one sentence, or ""."""
        ...

    def run(self, prompt: str, room: Room, *, skill: str, toll: Toll) -> Told:
        """Let the agent do what ``prompt`` asks in ``room``, where the skill so named lies.

        ``toll`` is called before each request to the model; where the client uses a login of its
        own, so that its requests are out of sight, once.

        Raises:
            BudgetSpentError: ``toll`` refused.
            BackendError: The CLI failed, printed an error, or ran out of time.
            ConfigError: It has no model and no login.
        """
        ...


RUNNERS: Registry[Runner] = Registry(
    kind="runner",
    group="skillopt_sleep.runners",
    builtin={
        "claude_code": "skillopt_sleep.runners.cli:claude_code",
        "codex": "skillopt_sleep.runners.cli:codex",
        "copilot": "skillopt_sleep.runners.cli:copilot",
        "opencode": "skillopt_sleep.runners.cli:opencode",
    },
)
"""Factories take ``(world: World, settings: Settings)``."""

RUNNER_OF = {"claude": "claude_code"}
"""Source name to the runner of the same harness, where they differ."""
