"""Plugin point 4: an environment gives tasks and attempts them under a skill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.task import Task
from skillopt_sleep.registry import Registry


class Environment(Protocol):
    """Gives tasks and attempts them: mined tasks, or a benchmark."""

    @property
    def name(self) -> str:
        """Registry name; part of every attempt's id."""
        ...

    def tasks(self) -> Sequence[Task]:
        """Return all tasks of all splits, in a stable order."""
        ...

    def attempt_id(self, task: Task, skill: str, draw: int) -> str:
        """Return the id that ``attempt`` would give, without doing any work."""
        ...

    def attempt(self, task: Task, skill: str, draw: int) -> Attempt:
        """Try ``task`` once under the skill document ``skill``; safe from several threads.

        Trouble with the model or the workspace is an ``Attempt`` with a ``failure``.

        Raises:
            BudgetSpentError: Nothing more may be spent.
            AnswersWantedError: A handoff answer is missing.
            CancelledError: Somebody asked to stop.
            BackendError: With fault ``AUTH``: the key is bad, so every further call is in vain.
        """
        ...


ENVIRONMENTS: Registry[Environment] = Registry(
    kind="environment",
    group="skillopt_sleep.environments",
    builtin={
        "prompt": "skillopt_sleep.environments.prompt:PromptEnvironment",
        "workspace": "skillopt_sleep.environments.workspace:WorkspaceEnvironment",
    },
)
"""Factories take ``(bench: Bench)``, see ``environments/bench.py``."""
