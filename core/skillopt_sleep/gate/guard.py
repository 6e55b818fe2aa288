"""The guard against breaking one task while helping the rest.

A veto on "any task fell" would throw out most good edits under noise; so a task that lost clearly
is rolled out more often in both arms, and Fisher's exact test decides. The rollouts that made it a
suspect are not counted again: they were chosen for being bad.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

GUARD_ROLLOUTS = 8
"""Further rollouts per arm on a suspect, after the first look."""

FIRST_LOOK = 3
"""Rollouts per arm that make a task a suspect."""

_LOST = 2
_LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Arms:
    """Whether each paired rollout of a task passed.

    Attributes:
        live: One per rollout under the live skill.
        candidate: As many under the candidate.
    """

    live: tuple[bool, ...]
    candidate: tuple[bool, ...]


def suspect(arms: Arms) -> bool:
    """Return whether the candidate lost at least 2 of the first 3 rollouts."""
    live, candidate = sum(arms.live[:FIRST_LOOK]), sum(arms.candidate[:FIRST_LOOK])
    return live - candidate >= _LOST


def fisher(arms: Arms) -> float:
    """Return the one-sided p-value, in (0, 1], of the candidate passing as seldom as seen.

    Exact and conditional on how many rollouts of both arms passed.
    """
    live, candidate = len(arms.live), len(arms.candidate)
    passed = sum(arms.live) + sum(arms.candidate)
    total = comb(live + candidate, passed)
    lowest = max(0, passed - live)
    ways = sum(
        comb(candidate, won) * comb(live, passed - won)
        for won in range(lowest, sum(arms.candidate) + 1)
    )
    return ways / total if total else 1.0


def broken(suspects: Sequence[Arms]) -> tuple[int, ...]:
    """Return the indexes of suspects that the candidate breaks, at 0.05 shared by all of them.

    Args:
        suspects: Per suspect the rollouts after the first look, ``GUARD_ROLLOUTS`` per arm.
    """
    return tuple(
        index for index, arms in enumerate(suspects) if fisher(arms) <= _LEVEL / len(suspects)
    )


def breaks_pinned(arms: Arms) -> bool:
    """Return whether a task that must never break failed two of three, and not under live."""
    live, candidate = arms.live[:FIRST_LOOK], arms.candidate[:FIRST_LOOK]
    return candidate.count(False) >= _LOST and live.count(False) < _LOST
