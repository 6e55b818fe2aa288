"""Plugin point 6: a runner drives an agent CLI on a task in a workspace.

No runner ships yet; the point is open for other packages through its entry-point group.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from skillopt_sleep.model.attempt import Outcome
from skillopt_sleep.model.task import Task
from skillopt_sleep.registry import Registry


class Runner(Protocol):
    """Drives one agent CLI."""

    def run(self, task: Task, workspace: Path, *, timeout_s: float) -> Outcome:
        """Let the agent attempt ``task`` in ``workspace``, where the skill already lies.

        Raises:
            BackendError: The CLI failed, printed an error, or ran out of time.
        """
        ...


RUNNERS: Registry[Runner] = Registry(kind="runner", group="skillopt_sleep.runners")
"""Factories take ``(world: World, settings: BackendSettings)``."""
