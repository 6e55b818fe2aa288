"""How well one skill does on a split, and a matrix of skills on models and harnesses.

Measures only: nothing is learned from it and no gate is asked. An attempt that failed is left out
and counted; a score of 0.0 is a score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from skillopt_sleep.codec import text_hash
from skillopt_sleep.gate.interval import Rate, rate
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.score import Metric, Score
from skillopt_sleep.model.task import Task
from skillopt_sleep.replay import Rollout, Rollouts


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillScore:
    """What one skill reached on some tasks.

    Attributes:
        skill_hash: Hash of the document's bytes.
        attempts: Scored attempts.
        failed: Attempts that ended without a score.
        hard: Mean hard score, in [0, 1]; 0 where nothing was scored, see ``attempts``.
        soft: Mean soft score, in [0, 1].
        interval: Exact 95 % interval of the share of passed attempts; None without attempts. It
            holds for tasks tried once each.
        tokens: Mean tokens of an attempt.
        seconds: Mean wall time of an attempt.
    """

    skill_hash: str
    attempts: int
    failed: int
    hard: float
    soft: float
    interval: Rate | None
    tokens: float
    seconds: float

    def by(self, metric: Metric) -> float:
        """Return the mean of the part of the score that ``metric`` names, in [0, 1]."""
        return Score(hard=self.hard, soft=self.soft).by(metric)

    @property
    def failure_share(self) -> float:
        """Share of attempts that ended without a score, in [0, 1]."""
        total = self.attempts + self.failed
        return self.failed / total if total else 0.0


def evaluate_skill(
    rollouts: Rollouts, document: str, tasks: Sequence[Task], *, draws: int = 1
) -> SkillScore:
    """Return what ``document`` reaches on ``tasks``, each tried ``draws`` times.

    Raises:
        BackendError: The model could not be asked at all, or a budget is spent.
    """
    wanted = [
        Rollout(task=task, skill=document, draw=draw) for task in tasks for draw in range(draws)
    ]
    return summarise(document, rollouts(wanted))


def summarise(document: str, attempts: Sequence[Attempt]) -> SkillScore:
    """Return the means over attempts under one document."""
    there = [(one, one.score) for one in attempts if one.score is not None]
    count = len(there)
    passed = sum(score.hard == 1.0 for _, score in there)
    most = max(1, count)
    return SkillScore(
        skill_hash=text_hash(document),
        attempts=count,
        failed=len(attempts) - count,
        hard=fsum(score.hard for _, score in there) / most,
        soft=fsum(score.soft for _, score in there) / most,
        interval=rate(passed, count) if count else None,
        tokens=fsum(one.usage.tokens for one, _ in there) / most,
        seconds=fsum(one.seconds for one, _ in there) / most,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One model in one harness.

    Attributes:
        model: Model id.
        harness: Registry name of the environment or runner.
        rollouts: Attempts tasks with it.
    """

    model: str
    harness: str
    rollouts: Rollouts


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferCell:
    """One skill on one model in one harness.

    Attributes:
        skill: Name of the skill; "" is no skill at all.
        model: Model id.
        harness: Registry name of the environment or runner.
        score: What it reached.
        gain: Its mean hard score less that of no skill on the same target, in [-1, 1].
    """

    skill: str
    model: str
    harness: str
    score: SkillScore
    gain: float


def transfer(
    skills: Mapping[str, str], targets: Sequence[Target], tasks: Sequence[Task], *, draws: int = 1
) -> tuple[TransferCell, ...]:
    """Return every skill on every target, and no skill first, in the targets' order.

    Args:
        skills: Documents by name.
        targets: Models and harnesses.
        tasks: What they are tried on, the same for all.
        draws: Tries of each task, >= 1.

    Raises:
        BackendError: A model could not be asked at all, or a budget is spent.
    """
    cells: list[TransferCell] = []
    for target in targets:
        none = evaluate_skill(target.rollouts, "", tasks, draws=draws)
        cells.append(_cell("", target, none, none))
        for name, document in skills.items():
            score = evaluate_skill(target.rollouts, document, tasks, draws=draws)
            cells.append(_cell(name, target, score, none))
    return tuple(cells)


def _cell(name: str, target: Target, score: SkillScore, none: SkillScore) -> TransferCell:
    return TransferCell(
        skill=name,
        model=target.model,
        harness=target.harness,
        score=score,
        gain=score.hard - none.hard,
    )
