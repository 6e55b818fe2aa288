"""What an attempt costs, for candidates that are as good but cheaper; knows no quality."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, log

from skillopt_sleep.model.attempt import Attempt

SAVING = 0.15
"""A candidate has to cost at least so much less, as a share."""


def cost(attempt: Attempt, co_metric: str) -> float:
    """Return the tokens or seconds of an attempt, >= 0; 0.0 for any other co-metric."""
    match co_metric:
        case "tokens":
            return float(attempt.usage.tokens)
        case "seconds":
            return attempt.seconds
        case _:
            return 0.0


def mean_cost(attempts: Sequence[Attempt], co_metric: str) -> float:
    """Return the mean cost of one or more attempts, >= 0."""
    return fsum(cost(one, co_metric) for one in attempts) / len(attempts)


def saving(live: float, candidate: float) -> float:
    """Return D in [-1, 1] for two costs; 0.0 where one is unknown.

    The log ratio is clipped where the candidate costs 15 % less, or more in the same ratio.
    """
    if live <= 0.0 or candidate <= 0.0:
        return 0.0
    return max(-1.0, min(1.0, log(live / candidate) / -log(1.0 - SAVING)))


def cheaper(live: float, candidate: float) -> bool:
    """Return whether the candidate costs at least 15 % less."""
    return 0.0 < candidate <= (1.0 - SAVING) * live
