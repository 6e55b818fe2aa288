"""What the optimizer may look at: train tasks with their attempts, told apart by how they went.

A failed attempt (one without a score) says nothing about the skill and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.check import Evidence
from skillopt_sleep.model.task import Split, Task
from skillopt_sleep.optimizer.quoting import cut, quote

_STEPS_CAP = 6000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A train task with its scored attempts under one skill.

    Attributes:
        task: A task of the train split.
        attempts: Scored attempts, in order of their draws; at least one.
    """

    task: Task
    attempts: tuple[Attempt, ...]

    def __post_init__(self) -> None:
        if self.task.split is not Split.TRAIN:
            raise ValueError(f"task {self.task.id!r} is {self.task.split}; only train is shown")

    @property
    def good(self) -> tuple[Attempt, ...]:
        """Attempts that met every check."""
        return tuple(one for one in self.attempts if one.score and one.score.hard == 1.0)

    @property
    def bad(self) -> tuple[Attempt, ...]:
        """Attempts that did not, worst first."""
        bad = [one for one in self.attempts if one.score and one.score.hard < 1.0]
        return tuple(sorted(bad, key=lambda one: one.score.soft if one.score else 0.0))

    @property
    def contrast(self) -> bool:
        """Whether the same task went well and badly."""
        return bool(self.good and self.bad)

    @property
    def mean(self) -> float:
        """Mean soft score, in [0, 1]."""
        return sum(one.score.soft for one in self.attempts if one.score) / len(self.attempts)


def trials(tasks: Sequence[Task], attempts: Sequence[Attempt]) -> tuple[Trial, ...]:
    """Return tasks with their scored attempts, in the tasks' order; those without are left out.

    Raises:
        ValueError: A task does not stand on the train split.
    """
    by_task: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        if attempt.score is not None:
            by_task.setdefault(attempt.task, []).append(attempt)
    return tuple(
        Trial(task=task, attempts=tuple(by_task[task.id])) for task in tasks if task.id in by_task
    )


def failing(found: Sequence[Trial]) -> tuple[Trial, ...]:
    """Return trials with something to mend, those with a good attempt to compare with first."""
    bad = [trial for trial in found if trial.bad]
    return tuple(sorted(bad, key=lambda trial: not trial.contrast))


def succeeding(found: Sequence[Trial]) -> tuple[Trial, ...]:
    """Return trials of which every attempt met every check."""
    return tuple(trial for trial in found if not trial.bad)


def evidence_of(task: Task) -> tuple[Evidence, ...]:
    """Return the turns a task and its checks come from, each once."""
    return tuple(
        dict.fromkeys((*task.evidence, *(e for check in task.checks for e in check.evidence)))
    )


def describe(trial: Trial, label: str) -> str:
    """Return a trial as the optimizer reads it; foreign text is quoted."""
    task = trial.task
    shown = [*trial.bad[:2], *trial.good[:1]] if trial.bad else list(trial.good[:1])
    evidence = evidence_of(task)
    human = [one.quote for one in evidence if one.role == "human" and one.quote]
    other = [one.quote for one in evidence if one.role != "human" and one.quote]
    rows = [
        f"## Trial {label}: {len(trial.good)} of {len(trial.attempts)} attempts met every check",
        f"Request:\n{quote(task.prompt, cap=3000)}",
        f"Context:\n{quote(task.context, cap=2000)}" if task.context else "",
        f"Known right answer:\n{quote(task.reference, cap=1000)}" if task.reference else "",
        "The human's own words about it (a rule may be made of them):\n"
        + "\n".join(quote(one, cap=500) for one in human)
        if human
        else "",
        "Seen in the logs (evidence only, no rule may be made of what it demands):\n"
        + "\n".join(quote(one, cap=500) for one in other)
        if other
        else "",
        *(_describe_attempt(task, one, number) for number, one in enumerate(shown, 1)),
    ]
    return "\n".join(row for row in rows if row)


def _describe_attempt(task: Task, attempt: Attempt, number: int) -> str:
    if attempt.outcome is None or attempt.score is None:
        return ""
    steps = "\n".join(
        f"[{step.role}{' ' + step.tool if step.tool else ''}] {step.arguments} {step.text}".strip()
        for step in attempt.outcome.steps
    )
    notes = {check.id: check.note for check in task.checks}
    verdicts = "\n".join(
        f"{'met' if one.passed else 'NOT MET'}: {one.reason or notes.get(one.check) or one.check}"
        for one in attempt.verdicts
    )
    went = "met every check" if attempt.score.hard == 1.0 else "did not meet every check"
    return "\n".join(
        row
        for row in (
            f"### Attempt {number}: {went}",
            f"Trajectory:\n{quote(steps, cap=_STEPS_CAP)}" if steps else "",
            f"Answer:\n{quote(attempt.outcome.answer, cap=3000)}",
            f"Changes:\n{quote(attempt.outcome.diff, cap=2000)}" if attempt.outcome.diff else "",
            f"Checks:\n{quote(cut(verdicts, 2000))}" if verdicts else "",
        )
        if row
    )
