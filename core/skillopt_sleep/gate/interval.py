"""Exact intervals for a share of successes (Clopper and Pearson); knows no gate."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, fsum, lgamma, log, log1p

_STEPS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share with its interval.

    Attributes:
        rate: Hits over trials, in [0, 1].
        low: Lower end of the exact 95 % interval.
        high: Upper end of it.
        trials: How often it was tried, >= 1.
    """

    rate: float
    low: float
    high: float
    trials: int


def rate(hits: int, trials: int, *, level: float = 0.95) -> Rate:
    """Return hits over trials with the exact interval at ``level``.

    Raises:
        ValueError: There were no trials, or more hits than trials.
    """
    if not 0 <= hits <= trials or not trials:
        raise ValueError(f"{hits} hits of {trials} trials is no share")
    tail = (1.0 - level) / 2.0
    # The lower end is where so many hits or more become a rare event; the upper one mirrors it.
    low = 0.0 if hits == 0 else _where(hits, trials, tail)
    high = 1.0 if hits == trials else 1.0 - _where(trials - hits, trials, tail)
    return Rate(rate=hits / trials, low=low, high=high, trials=trials)


def _where(hits: int, trials: int, tail: float) -> float:
    low, high = 0.0, hits / trials
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if at_least(hits, trials, middle) < tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def at_least(hits: int, trials: int, share: float) -> float:
    """Return the probability of ``hits`` or more in ``trials``, each with chance ``share``."""
    if share <= 0.0 or share >= 1.0:
        return float(hits == 0 or share >= 1.0)
    logs = (log(share), log1p(-share))
    whole = lgamma(trials + 1)
    terms: list[float] = []
    for k in range(hits, trials + 1):
        term = exp(
            whole - lgamma(k + 1) - lgamma(trials - k + 1) + k * logs[0] + (trials - k) * logs[1]
        )
        terms.append(term)
        # Beyond the mode the terms only fall; what is this small changes nothing.
        if term < 1e-18 and k > share * trials:
            break
    return min(1.0, fsum(terms))
