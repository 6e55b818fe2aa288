"""Simulated nights, many at once: tasks with noisy pass rates, edits, rollouts and differences.

The same arithmetic as ``evidence.py`` on arrays; a test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skillopt_sleep.gate.evidence import FULL_SWING, LAMBDAS, extra_rollouts
from skillopt_sleep.gate.guard import FIRST_LOOK, GUARD_ROLLOUTS, Arms, broken, suspect

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

EASY, EVEN, HARD = 0.95, 0.5, 0.08
"""Pass rates of the three kinds of task."""

SHARES = (0.35, 0.30, 0.35)
"""Shares of the three kinds, same order."""

LIFTED_TO = 0.9
HARM_SHARE, HARM_FACTOR = 0.1, 0.3

EFFECTS = ("null", "harm", "fix0.2", "fix0.4", "fix0.7")
"""What an edit does: nothing; harm to a tenth of the tasks; a share of the weaker tasks fixed."""


def pass_rates(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return pass rates of tasks drawn from the mixture."""
    return rng.choice([EASY, EVEN, HARD], size=shape, p=SHARES)


def edited(rng: np.random.Generator, rates: Floats, effect: str) -> Floats:
    """Return the pass rates under an edit.

    Args:
        rng: Decides which tasks it touches.
        rates: Pass rates of unedited tasks.
        effect: "null", "harm", or "fix" and the share of the tasks below 0.9 that it lifts to 0.9.
    """
    touched = rng.random(rates.shape)
    if effect == "null":
        return rates
    if effect == "harm":
        return np.where(touched < HARM_SHARE, rates * HARM_FACTOR, rates)
    share = float(effect.removeprefix("fix"))
    return np.where((touched < share) & (rates < LIFTED_TO), LIFTED_TO, rates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolled:
    """Rollouts of both arms: draws in the last axis, every draw that a gate may ask for.

    Attributes:
        live: Whether each draw passed under the live skill.
        candidate: The same under the candidate.
        extra: Rollouts per arm beyond the first where the first ones differ.
    """

    live: Flags
    candidate: Flags
    extra: int

    @property
    def retried(self) -> Flags:
        """Where the first outcomes differ."""
        return np.not_equal(self.live[..., 0], self.candidate[..., 0])

    @property
    def differences(self) -> Floats:
        """D per task, in [-1, 1]; 0 where the first outcomes agree."""
        drawn = 1 + self.extra
        live = self.live[..., :drawn].mean(axis=-1)
        candidate = self.candidate[..., :drawn].mean(axis=-1)
        swing = np.clip((candidate - live) / FULL_SWING, -1.0, 1.0)
        return np.where(self.retried, swing, 0.0)

    @property
    def rollouts(self) -> Floats:
        """How many rollouts of both arms each night took, the guard's not counted."""
        first: int = 2 * self.live.shape[-2]
        again = self.retried.sum(axis=-1)
        return np.asarray(first + 2 * self.extra * again, dtype=np.float64)

    @property
    def strict(self) -> Flags:
        """Where the mean of single rollouts strictly rises."""
        wins = self.candidate[..., 0].sum(axis=-1)
        return np.asarray(wins > self.live[..., 0].sum(axis=-1), dtype=np.bool_)

    def vetoed(self, night: int) -> bool:
        """Return whether the guard would veto the candidate on one night."""
        suspects = [
            task
            for task in np.flatnonzero(self.retried[night])
            if suspect(self._arms(night, int(task), slice(FIRST_LOOK)))
        ]
        judged = slice(FIRST_LOOK, FIRST_LOOK + GUARD_ROLLOUTS)
        return bool(broken([self._arms(night, int(task), judged) for task in suspects]))

    def _arms(self, night: int, task: int, draws: slice) -> Arms:
        return Arms(
            live=tuple(map(bool, self.live[night, task, draws])),
            candidate=tuple(map(bool, self.candidate[night, task, draws])),
        )


def roll(rng: np.random.Generator, live: Floats, candidate: Floats) -> Rolled:
    """Return rollouts for nights (first axis) of tasks (last axis) with these pass rates."""
    shape = (*live.shape, FIRST_LOOK + GUARD_ROLLOUTS)
    return Rolled(
        live=rng.random(shape) < live[..., None],
        candidate=rng.random(shape) < candidate[..., None],
        extra=extra_rollouts(live.shape[-1]),
    )


def course(differences: Floats) -> Floats:
    """Return the evidence after each task of the last axis."""
    sums = np.stack([np.log1p(bet * differences).cumsum(axis=-1) for bet in LAMBDAS], axis=-1)
    return np.asarray(np.exp(sums).mean(axis=-1), dtype=np.float64)


def peaks(differences: Floats) -> Floats:
    """Return the highest evidence after any prefix, the empty one included."""
    return np.asarray(np.maximum(course(differences).max(axis=-1), 1.0), dtype=np.float64)
