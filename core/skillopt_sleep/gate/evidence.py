"""The e-process: how strongly paired differences speak for a candidate, and how strongly against.

Under "no better than the live skill" the evidence is a nonnegative supermartingale that starts at
1, so it ever reaches 1/a with probability at most a, whenever one looks (Ville). It knows neither
tasks nor thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import exp, fsum, log1p

from skillopt_sleep.model.score import Score

LAMBDAS = (0.5, 0.75, 0.95)
"""The bets that are mixed, each in (0, 1)."""

FULL_SWING = 0.5
"""A mean score that moves by this much counts as a whole win or loss."""

SOFT_GAP = 0.5
"""Soft scores further apart than this differ."""

_FEW_TASKS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Differences seen so far, in test order.

    The sums over all nights are kept per bet and mixed at the end: a mixture of products, never a
    product of mixtures. Sums are exact, so the order of the differences does not matter.

    Attributes:
        differences: Each in [-1, 1]; positive speaks for the candidate.
    """

    differences: tuple[float, ...] = ()
    log_sums: tuple[float, ...] = field(init=False)
    harm_sums: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        for one in self.differences:
            if not -1.0 <= one <= 1.0:
                raise ValueError(f"a difference must lie in [-1, 1], got {one}")
        object.__setattr__(self, "log_sums", _sums(self.differences, 1.0))
        object.__setattr__(self, "harm_sums", _sums(self.differences, -1.0))

    @classmethod
    def of(cls, differences: Iterable[float]) -> Tally:
        """Return the tally of ``differences``."""
        return cls(differences=tuple(differences))

    def add(self, difference: float) -> Tally:
        """Return the tally with one more difference in [-1, 1]."""
        return Tally(differences=(*self.differences, difference))

    @property
    def e_value(self) -> float:
        """Evidence for the candidate, > 0; 1 is none."""
        return _mixture(self.log_sums)

    @property
    def e_harm(self) -> float:
        """Evidence against the candidate, > 0; 1 is none."""
        return _mixture(self.harm_sums)

    @property
    def peak(self) -> float:
        """Highest evidence for the candidate after any prefix, the empty one included."""
        return _peak(self.differences, 1.0)

    @property
    def harm_peak(self) -> float:
        """Highest evidence against the candidate after any prefix, the empty one included."""
        return _peak(self.differences, -1.0)

    def after_wins(self, wins: int) -> float:
        """Return the evidence after so many further clean wins and no loss."""
        return _mixture(
            [one + wins * log1p(bet) for one, bet in zip(self.log_sums, LAMBDAS, strict=True)]
        )

    def wins_to(self, threshold: float) -> int:
        """Return how many clean wins without a loss lift the evidence to ``threshold``, >= 0."""
        wins = 0
        while self.after_wins(wins) < threshold:
            wins += 1
        return wins


def difference(live: Sequence[float], candidate: Sequence[float]) -> float:
    """Return D in [-1, 1]: the change of the mean score over a full swing, clipped.

    Args:
        live: Scores of the live skill's rollouts, each in [0, 1].
        candidate: As many of the candidate's.

    Raises:
        ValueError: The arms are empty or differ in length, which would not be a fair pair.
    """
    if not live or len(live) != len(candidate):
        raise ValueError(
            f"{len(live)} live scores against {len(candidate)}; as many of both are needed"
        )
    change = (fsum(candidate) - fsum(live)) / len(live)
    return max(-1.0, min(1.0, change / FULL_SWING))


def cluster_means(
    members: Iterable[tuple[Sequence[float], Sequence[float]]],
) -> tuple[float, float]:
    """Return the mean score under the live skill and under the candidate, members averaged.

    Args:
        members: Per member the live skill's scores and as many of the candidate's, each in [0, 1].
    """
    means = [(fsum(live) / len(live), fsum(other) / len(other)) for live, other in members]
    return (
        fsum(live for live, _ in means) / len(means),
        fsum(other for _, other in means) / len(means),
    )


def differs(live: Score, candidate: Score) -> bool:
    """Return whether two outcomes differ, whatever the direction, and so deserve a retry."""
    return live.hard != candidate.hard or abs(live.soft - candidate.soft) > SOFT_GAP


def extra_rollouts(n: int) -> int:
    """Return how many more rollouts each arm gets on a task that differed, of ``n`` compared."""
    return 4 if n < _FEW_TASKS else 2


def _sums(differences: Sequence[float], sign: float) -> tuple[float, ...]:
    return tuple(fsum(log1p(sign * bet * one) for one in differences) for bet in LAMBDAS)


def _mixture(sums: Sequence[float]) -> float:
    return fsum(exp(one) for one in sums) / len(sums)


def _peak(differences: Sequence[float], sign: float) -> float:
    sums = [0.0] * len(LAMBDAS)
    best = 1.0
    for one in differences:
        sums = [total + log1p(sign * bet * one) for total, bet in zip(sums, LAMBDAS, strict=True)]
        best = max(best, _mixture(sums))
    return best
