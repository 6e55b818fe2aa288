"""How well one attempt did, and which part of that the gate looks at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Metric(StrEnum):
    """Which part of a score counts; ``mixed`` is the mean of both."""

    HARD = "hard"
    SOFT = "soft"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The verdict on one attempt.

    Attributes:
        hard: 1.0 if every check passed, else 0.0.
        soft: Weighted share of the checks that passed, in [0, 1].
    """

    hard: float
    soft: float

    def __post_init__(self) -> None:
        for name, value in (("hard", self.hard), ("soft", self.soft)):
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"{name} must lie in [0, 1], got {value}")

    def by(self, metric: Metric) -> float:
        """Return the part of the score that ``metric`` names, in [0, 1]."""
        match metric:
            case Metric.HARD:
                return self.hard
            case Metric.SOFT:
                return self.soft
            case Metric.MIXED:
                return 0.5 * (self.hard + self.soft)
