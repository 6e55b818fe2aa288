"""Paired rollouts: the live skill and a candidate on the same task, draw by draw.

Attempts are asked for in batches and each only once, so that all candidates of a night share the
live skill's draws. It decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillopt_sleep.gate.cost import mean_cost
from skillopt_sleep.gate.evidence import cluster_means, difference
from skillopt_sleep.gate.guard import Arms
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.score import Metric, Score
from skillopt_sleep.model.task import Task
from skillopt_sleep.replay import Rollout, Rollouts


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The same draw of a task under both skills, both finished."""

    draw: int
    live: Attempt
    candidate: Attempt

    @property
    def scores(self) -> tuple[Score, Score]:
        """The live skill's score and the candidate's."""
        if self.live.score is None or self.candidate.score is None:
            raise ValueError("a pair with a failed attempt cannot be compared")
        return self.live.score, self.candidate.score


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What a cluster says of a candidate.

    Attributes:
        difference: D in [-1, 1], members averaged.
        live: Mean score of the live skill, in [0, 1].
        candidate: Mean score of the candidate, in [0, 1].
        attempts: Ids, per member the live skill's draws, then as many of the candidate's.
        tasks: Ids of the members compared.
        silent: Ids of the members that scored the same under both and so said nothing.
        shape_only: Whether no member has a check on content.
        live_cost: Mean co-metric per attempt of the live skill, 0.0 without one.
        candidate_cost: The same of the candidate.
    """

    difference: float
    live: float
    candidate: float
    attempts: tuple[str, ...]
    tasks: tuple[str, ...]
    silent: tuple[str, ...]
    shape_only: bool
    live_cost: float
    candidate_cost: float


class Draws:
    """Attempts by task, skill and draw; each is asked for once."""

    def __init__(self, rollouts: Rollouts) -> None:
        self._rollouts = rollouts
        self._known: dict[tuple[str, str, int], Attempt] = {}

    def ask(self, wanted: Iterable[tuple[Task, str, int]]) -> None:
        """Have these (task, skill, draw) attempted, all together."""
        new = {
            (task.id, skill, draw): Rollout(task=task, skill=skill, draw=draw)
            for task, skill, draw in wanted
            if (task.id, skill, draw) not in self._known
        }
        if new:
            self._known.update(zip(new, self._rollouts(tuple(new.values())), strict=True))

    def pairs(self, task: Task, live: str, candidate: str, most: int) -> tuple[Pair, ...]:
        """Return the finished pairs among the first ``most`` draws of a task, by draw.

        A draw that failed under one skill is left out under both.
        """
        found: list[Pair] = []
        for draw in range(most):
            one = self._known.get((task.id, live, draw))
            other = self._known.get((task.id, candidate, draw))
            if one and other and one.score is not None and other.score is not None:
                found.append(Pair(draw=draw, live=one, candidate=other))
        return tuple(found)

    def dropped(self, task: Task, live: str, candidate: str, most: int) -> int:
        """Return how many of the first ``most`` draws were asked of both arms and failed in one."""
        asked = sum(
            (task.id, live, draw) in self._known and (task.id, candidate, draw) in self._known
            for draw in range(most)
        )
        return asked - len(self.pairs(task, live, candidate, most))


def usable(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return the pairs, or none where the first failed: its task had no chance of a retry."""
    return tuple(pairs) if pairs and pairs[0].draw == 0 else ()


def _same(pairs: Sequence[Pair]) -> bool:
    return all(live == candidate for live, candidate in (pair.scores for pair in pairs))


def passes(pairs: Sequence[Pair]) -> Arms:
    """Return which rollouts of a task passed every check, for the guard."""
    seen = [pair.scores for pair in pairs]
    return Arms(
        live=tuple(live.hard == 1.0 for live, _ in seen),
        candidate=tuple(candidate.hard == 1.0 for _, candidate in seen),
    )


def compare(
    members: Sequence[tuple[Task, Sequence[Pair]]], metric: Metric, co_metric: str
) -> Compared | None:
    """Return what the finished pairs of a cluster's members say; None if there are none."""
    there = [(task, usable(pairs)) for task, pairs in members if usable(pairs)]
    if not there:
        return None
    live, candidate = cluster_means(
        (
            [one.scores[0].by(metric) for one in pairs],
            [one.scores[1].by(metric) for one in pairs],
        )
        for _, pairs in there
    )
    return Compared(
        difference=difference([live], [candidate]),
        live=live,
        candidate=candidate,
        attempts=tuple(
            attempt.id
            for _, pairs in there
            for attempt in (*(one.live for one in pairs), *(one.candidate for one in pairs))
        ),
        tasks=tuple(task.id for task, _ in there),
        silent=tuple(task.id for task, pairs in there if _same(pairs) and co_metric == "none"),
        shape_only=all(task.shape_only for task, _ in there),
        live_cost=mean_cost([one.live for _, pairs in there for one in pairs], co_metric),
        candidate_cost=mean_cost([one.candidate for _, pairs in there for one in pairs], co_metric),
    )
