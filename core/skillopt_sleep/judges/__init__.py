"""Plugin point 3: judges decide one check on one outcome; they do not know which arm it was."""

from __future__ import annotations

from typing import Protocol

from skillopt_sleep.model.attempt import Outcome, Verdict
from skillopt_sleep.model.check import Check
from skillopt_sleep.model.task import Task
from skillopt_sleep.registry import Registry


class Judge(Protocol):
    """Decides checks of the operators that ``JUDGE_OF`` gives it."""

    def verdict(self, check: Check, task: Task, outcome: Outcome) -> Verdict:
        """Return whether ``outcome`` meets ``check``; an empty answer meets nothing.

        Raises:
            BackendError: The judge needs a model and it could not be asked.
            ConfigError: The check's operand cannot be understood.
        """
        ...


JUDGES: Registry[Judge] = Registry(
    kind="judge",
    group="skillopt_sleep.judges",
    builtin={
        "rules": "skillopt_sleep.judges.rules:RulesJudge",
        "exact": "skillopt_sleep.judges.exact:ExactJudge",
        "rubric": "skillopt_sleep.judges.rubric:RubricJudge",
        "commands": "skillopt_sleep.judges.commands:CommandsJudge",
    },
)
"""Factories take ``(world: World, backend: Backend | None)``."""
