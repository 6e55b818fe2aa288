"""Tasks under skills to attempts: each one once, in parallel, journaled as soon as it is finished.

It decides nothing about skills, and knows neither models nor judges; budgets, retries and the
journal of calls belong to the backends that the environment was built with.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from skillopt_sleep.environments import Environment
from skillopt_sleep.errors import AnswersWantedError
from skillopt_sleep.model.attempt import Attempt, Failure
from skillopt_sleep.model.progress import Progress, Tick, silent
from skillopt_sleep.model.task import Task
from skillopt_sleep.pool import Cancel, run_all
from skillopt_sleep.store.attempts import AttemptStore

STAGE = "rollout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One try that is wanted.

    Attributes:
        task: What to attempt.
        skill: The skill document's text; "" for none.
        draw: 0-based number of the try under the same task and skill.
    """

    task: Task
    skill: str
    draw: int = 0


class Rollouts(Protocol):
    """Attempts what is wanted."""

    def __call__(self, wanted: Sequence[Rollout]) -> tuple[Attempt, ...]:
        """Return one attempt per rollout, same order; trouble with one is its ``failure``.

        Raises:
            BudgetSpentError: Nothing more may be spent.
            AnswersWantedError: Prompts were handed off and wait for an answer.
            CancelledError: Somebody asked to stop.
            BackendError: With fault ``AUTH``: every further call is in vain.
        """
        ...


class Replay:
    """Attempts rollouts through an environment, and counts those that failed.

    Equal rollouts run once. A finished attempt is kept at once, so that a run that was cut off
    finds it again without a call; a failed one is not kept, and is tried again.
    """

    def __init__(
        self,
        environment: Environment,
        attempts: AttemptStore,
        *,
        night: str,
        workers: int,
        cancel: Cancel,
        progress: Progress = silent,
    ) -> None:
        self._environment = environment
        self._attempts = attempts
        self._night = night
        self._workers = workers
        self._cancel = cancel
        self._progress = progress
        self._lock = threading.Lock()
        self._finished: set[str] = set()
        self._failed: dict[str, Failure] = {}
        self._noted: dict[str, tuple[str, ...]] = {}

    @property
    def failure_share(self) -> float:
        """Share of the distinct rollouts so far that ended without a score, in [0, 1]."""
        total = len(self._finished) + len(self._failed)
        return len(self._failed) / total if total else 0.0

    @property
    def failures(self) -> int:
        """How many distinct rollouts ended without a score."""
        return len(self._failed)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the distinct attempts so far noted, with how many noted it, most frequent first.

        Attempts that failed come first, by the kind of trouble, with one's own words.
        """
        counts = Counter(note for notes in self._noted.values() for note in notes)
        troubles = Counter(failure.fault for failure in self._failed.values())
        words = {failure.fault: failure.reason for failure in self._failed.values()}
        return (
            *(
                f"{count} attempts failed and were left out ({fault}): {words[fault]}"
                for fault, count in troubles.most_common()
            ),
            *(f"{count} attempts: {note}" for note, count in counts.most_common()),
        )

    def __call__(self, wanted: Sequence[Rollout]) -> tuple[Attempt, ...]:
        """Return one attempt per rollout, same order; see ``Rollouts``."""
        ids = [self._environment.attempt_id(one.task, one.skill, one.draw) for one in wanted]
        by_id = self._attempts.found(dict.fromkeys(ids))
        self._finished.update(by_id)
        missing = {key: one for key, one in zip(ids, wanted, strict=True) if key not in by_id}
        reached = len(by_id)
        total = reached + len(missing)

        def tick(done: int, _of: int) -> None:
            self._progress(Tick(stage=STAGE, done=reached + done, total=total))

        self._progress(Tick(stage=STAGE, done=reached, total=total))
        ran = run_all(
            self._attempt,
            missing.values(),
            workers=self._workers,
            cancel=self._cancel,
            on_done=tick,
        )
        waiting = [one for one in ran if isinstance(one, AnswersWantedError)]
        if waiting:
            raise AnswersWantedError.together(waiting)
        for key, one in zip(missing, ran, strict=True):
            if isinstance(one, Attempt):
                by_id[key] = one
        self._noted.update((key, attempt.notes) for key, attempt in by_id.items())
        return tuple(by_id[key] for key in ids)

    def _attempt(self, wanted: Rollout) -> Attempt | AnswersWantedError:
        # A missing answer is no reason to stop: the person who answers wants all prompts at once.
        self._cancel.check()
        try:
            attempt = self._environment.attempt(wanted.task, wanted.skill, wanted.draw)
        except AnswersWantedError as error:
            return error
        if attempt.failure is None:
            self._attempts.save(attempt, night=self._night)
        with self._lock:
            self._failed.pop(attempt.id, None)
            if attempt.failure is None:
                self._finished.add(attempt.id)
            else:
                self._failed[attempt.id] = attempt.failure
        return attempt


_CONFORMS: type[Rollouts] = Replay
