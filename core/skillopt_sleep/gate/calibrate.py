"""How often each policy lets the wrong edit in and the right one through, with intervals.

From simulation, and from the user's own recorded attempts: the same skill against itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skillopt_sleep.config import GateSettings
from skillopt_sleep.gate.evidence import (
    Tally,
    cluster_means,
    difference,
    differs,
    extra_rollouts,
)
from skillopt_sleep.gate.interval import Rate, rate
from skillopt_sleep.gate.policies import Accept, Seen, decide
from skillopt_sleep.gate.simulate import EFFECTS, edited, pass_rates, peaks, roll
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.score import Score
from skillopt_sleep.world import Random

_GUARD_TRIALS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What the simulation shows for one number of tasks and one kind of edit.

    Attributes:
        evidence: How often the evidence policy would adopt it in one night.
        strict: How often the strict policy accepts it.
        veto: How often the guard would veto it.
        rollouts: Mean rollouts of both arms a night, without the guard's.
    """

    evidence: Rate
    strict: Rate
    veto: Rate
    rollouts: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Cells by number of tasks, then by kind of edit.

    Attributes:
        cells: (tasks, effect) to what was seen.
    """

    cells: Mapping[tuple[int, str], Cell]

    def as_json(self) -> dict[str, dict[str, dict[str, dict[str, dict[str, dict[str, float]]]]]]:
        """Return policies, each by "n", number of tasks and kind of edit, with 95 % intervals."""
        policies: dict[str, dict[str, dict[str, dict[str, dict[str, float]]]]] = {}
        for policy in ("evidence", "strict"):
            by_n: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
            for (tasks, effect), cell in self.cells.items():
                seen = cell.evidence if policy == "evidence" else cell.strict
                by_n[str(tasks)][effect] = {"rate": seen.rate, "low": seen.low, "high": seen.high}
            policies[policy] = {"n": dict(by_n)}
        return {"policies": policies}


def calibrate(
    *,
    tasks: Sequence[int] = (10, 20, 40),
    trials: int = 4000,
    seed: int = 0,
    settings: GateSettings | None = None,
) -> Calibration:
    """Simulate one night of one candidate, many times, for every kind of edit.

    Args:
        tasks: Numbers of held-out tasks, each >= 1.
        trials: Nights per cell, >= 1.
        seed: Equal seeds give equal numbers.
        settings: Its ``adopt_at`` is the evidence that counts as adoption.
    """
    adopt_at = (settings or GateSettings()).adopt_at
    return Calibration(
        cells={
            (count, effect): _cell(
                np.random.default_rng([seed, count, index]),
                effect,
                shape=(trials, count),
                adopt_at=adopt_at,
            )
            for count in tasks
            for index, effect in enumerate(EFFECTS)
        }
    )


def _cell(
    rng: np.random.Generator, effect: str, *, shape: tuple[int, int], adopt_at: float
) -> Cell:
    trials = shape[0]
    live = pass_rates(rng, shape)
    rolled = roll(rng, live, edited(rng, live, effect))
    guarded = min(trials, _GUARD_TRIALS)
    return Cell(
        evidence=rate(int((peaks(rolled.differences) >= adopt_at).sum()), trials),
        strict=rate(int(rolled.strict.sum()), trials),
        veto=rate(sum(rolled.vetoed(night) for night in range(guarded)), guarded),
        rollouts=float(rolled.rollouts.mean()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCalibration:
    """The live skill against itself, on the user's own attempts.

    Attributes:
        clusters: Clusters with at least two finished attempts under one skill.
        supported: How often the evidence policy would have supported it.
        strict: How often the strict policy would have accepted it.
    """

    clusters: int
    supported: Rate
    strict: Rate


def calibrate_own(
    attempts: Iterable[Attempt], *, settings: GateSettings, trials: int, rng: Random
) -> OwnCalibration | None:
    """Split recorded attempts of the same skill and task into two arms at random, many times.

    Args:
        attempts: Stored attempts of any skills and tasks.
        settings: Metric and thresholds.
        trials: Splits, >= 1. They reuse the same attempts, so the interval speaks of these tasks.
        rng: Decides the splits.

    Returns:
        What was seen, or None if no task has two finished attempts under one skill.
    """
    clusters = _clusters(attempts)
    if not clusters:
        return None
    supported = strict = 0
    for _ in range(trials):
        seen = _split(clusters, settings, rng)
        supported += isinstance(
            decide(seen, settings.model_copy(update={"policy": "evidence"})), Accept
        )
        strict += seen.rises
    return OwnCalibration(
        clusters=len(clusters), supported=rate(supported, trials), strict=rate(strict, trials)
    )


_Draws = list[Score]


def _clusters(attempts: Iterable[Attempt]) -> tuple[tuple[_Draws, ...], ...]:
    """Return per cluster and skill the scores of each task that has at least two."""
    found: dict[tuple[str, str], dict[str, _Draws]] = defaultdict(lambda: defaultdict(list))
    for one in sorted(attempts, key=lambda one: (one.task, one.draw, one.id)):
        if one.score is not None:
            found[one.cluster, one.skill_hash][one.task].append(one.score)
    usable = (
        tuple(scores for _, scores in sorted(tasks.items()) if len(scores) > 1)
        for _, tasks in sorted(found.items())
    )
    return tuple(members for members in usable if members)


def _split(clusters: Sequence[tuple[_Draws, ...]], settings: GateSettings, rng: Random) -> Seen:
    tally = Tally()
    extra = extra_rollouts(len(clusters))
    live = candidate = 0.0
    for members in rng.sample(clusters, len(clusters)):
        means = cluster_means(_arms(scores, extra, settings, rng) for scores in members)
        live, candidate = live + means[0], candidate + means[1]
        tally = tally.add(difference([means[0]], [means[1]]))
    return Seen(tally=tally, rises=candidate > live, tonight=len(clusters))


def _arms(
    scores: _Draws, extra: int, settings: GateSettings, rng: Random
) -> tuple[list[float], list[float]]:
    shuffled = rng.sample(scores, len(scores))
    half = len(shuffled) // 2
    # The same two stages as a real night, as far as the recorded draws go.
    taken = min(half, 1 + extra) if differs(shuffled[0], shuffled[half]) else 1
    return (
        [one.by(settings.metric) for one in shuffled[:taken]],
        [one.by(settings.metric) for one in shuffled[half : half + taken]],
    )
