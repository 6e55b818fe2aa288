"""The screen before the gate: an edit has to fix at least one of the train tasks that motivated it.

It sees train tasks only, and ranks candidates so that few of them reach the held-out test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from skillopt_sleep.gate.evidence import SOFT_GAP
from skillopt_sleep.model.proposal import Candidate
from skillopt_sleep.model.task import Task
from skillopt_sleep.optimizer.pairs import Draws, Pair, usable
from skillopt_sleep.replay import Rollouts

SCREEN_ROLLOUTS = 3
"""Rollouts per arm and task."""

MOST_TASKS = 8
"""At most so many train tasks are looked at per candidate."""

CHALLENGE = 0.5
"""Share of the first one's gain per task that a challenger needs."""

_FIXED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenOutcome:
    """What the screen saw of one candidate.

    Attributes:
        candidate: Candidate id.
        fixed: Ids of the train tasks it fixed.
        looked_at: How many train tasks could be compared.
        gain: Mean change of the soft score on them, in [-1, 1].
        reason: One sentence for the human.
    """

    candidate: str
    fixed: tuple[str, ...]
    looked_at: int
    gain: float
    reason: str

    @property
    def passed(self) -> bool:
        """Whether it may go on to the held-out test: it fixed a task and gained on the whole."""
        return bool(self.fixed) and self.gain > 0


def screen(
    *, live: str, candidate: Candidate, train: Sequence[Task], rollouts: Rollouts
) -> ScreenOutcome:
    """Try a candidate on the train tasks that motivated its edits, or on all if it names none.

    A task counts as fixed if the candidate passes at least 2 of 3 rollouts and more than the live
    skill does, or if its soft score rises by more than 0.5 on average.
    """
    return screen_all(live=live, candidates=(candidate,), train=train, rollouts=rollouts)[0]


def screen_all(
    *, live: str, candidates: Sequence[Candidate], train: Sequence[Task], rollouts: Rollouts
) -> tuple[ScreenOutcome, ...]:
    """Return ``screen`` of several candidates, in their order, from one batch of rollouts."""
    draws = Draws(rollouts)
    chosen = [_motivating(candidate, train) for candidate in candidates]
    draws.ask(
        (task, skill, again)
        for candidate, tasks in zip(candidates, chosen, strict=True)
        for task in tasks
        for again in range(SCREEN_ROLLOUTS)
        for skill in (live, candidate.content)
    )
    return tuple(
        _outcome(
            candidate.id,
            [(task, draws.pairs(task, live, candidate.content, SCREEN_ROLLOUTS)) for task in tasks],
        )
        for candidate, tasks in zip(candidates, chosen, strict=True)
    )


def finalists(screened: Sequence[ScreenOutcome], most: int) -> tuple[str, ...]:
    """Return the ids of the best candidates that passed, best first, at most ``most``.

    Each one that reaches the test raises the threshold for all, so a challenger has to have done
    at least half as well per task as the first.
    """
    passed = [one for one in screened if one.passed]
    ranked = sorted(passed, key=lambda one: (-one.gain * one.looked_at, one.candidate))
    close = [one for one in ranked if one.gain >= CHALLENGE * ranked[0].gain]
    return tuple(one.candidate for one in close[:most])


def _motivating(candidate: Candidate, train: Sequence[Task]) -> tuple[Task, ...]:
    named = {task for edit in candidate.edits for task in edit.tasks}
    motivating = [task for task in train if task.id in named]
    return tuple((motivating or train)[:MOST_TASKS])


def _outcome(candidate: str, seen: Sequence[tuple[Task, Sequence[Pair]]]) -> ScreenOutcome:
    there = [(task, pairs) for task, pairs in seen if usable(pairs)]
    fixed = tuple(task.id for task, pairs in there if _is_fixed(pairs))
    gain = fsum(_rise(pairs) for _, pairs in there) / len(there) if there else 0.0
    return ScreenOutcome(
        candidate=candidate,
        fixed=fixed,
        looked_at=len(there),
        gain=gain,
        reason=f"fixed {len(fixed)} of {len(there)} train tasks in 2 of 3 rollouts",
    )


def _is_fixed(pairs: Sequence[Pair]) -> bool:
    live = sum(pair.scores[0].hard == 1.0 for pair in pairs)
    candidate = sum(pair.scores[1].hard == 1.0 for pair in pairs)
    return (candidate >= _FIXED and candidate > live) or _rise(pairs) > SOFT_GAP


def _rise(pairs: Sequence[Pair]) -> float:
    return fsum(pair.scores[1].soft - pair.scores[0].soft for pair in pairs) / len(pairs)
