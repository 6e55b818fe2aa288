"""From checks to one score: each check goes to the judge that owns its operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillopt_sleep.backends import Backend
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.judges import JUDGES, Judge
from skillopt_sleep.model.attempt import Outcome, Verdict
from skillopt_sleep.model.check import Check
from skillopt_sleep.model.score import Score
from skillopt_sleep.model.task import Task
from skillopt_sleep.world import World


def all_judges(world: World, backend: Backend | None) -> dict[str, Judge]:
    """Return every judge by its registry name; ``backend`` is for those that ask a model."""
    return {name: JUDGES.factory(name)(world, backend) for name in JUDGES.names()}


def judge_all(task: Task, outcome: Outcome, judges: Mapping[str, Judge]) -> tuple[Verdict, ...]:
    """Return one verdict per check of ``task``, same order.

    Raises:
        BackendError: A judge needs a model and it could not be asked.
        ConfigError: The task has no check, or one whose operand or judge is not known.
    """
    if not task.checks:
        raise ConfigError(f"the task {task.id!r} has no check, so nothing can judge it; add one")
    return tuple(_judge(check, judges).verdict(check, task, outcome) for check in task.checks)


def score(checks: Sequence[Check], verdicts: Sequence[Verdict]) -> Score:
    """Return the score that ``verdicts`` amount to.

    Args:
        checks: What was demanded, at least one.
        verdicts: One per check, same order.

    Raises:
        ValueError: They do not belong together, or there is none.
    """
    if not checks or [check.id for check in checks] != [one.check for one in verdicts]:
        raise ValueError(f"{len(verdicts)} verdicts do not fit {len(checks)} checks")
    weight = sum(check.weight for check in checks)
    soft = sum(c.weight * v.share for c, v in zip(checks, verdicts, strict=True)) / weight
    return Score(
        hard=1.0 if all(verdict.passed for verdict in verdicts) else 0.0,
        soft=min(1.0, max(0.0, soft)),
    )


def _judge(check: Check, judges: Mapping[str, Judge]) -> Judge:
    if check.judge not in judges:
        raise ConfigError(
            f"check {check.id!r} needs the judge {check.judge!r}, which is not at hand;"
            f" there are {', '.join(sorted(judges)) or 'none'}"
        )
    return judges[check.judge]
