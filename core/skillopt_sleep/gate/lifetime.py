"""How many false adoptions to expect over thirty nights, and when to stop adopting without a human.

Two ways. The budget counts every test at its threshold and pauses auto-adoption when it is spent.
The strict one, e-LOND, raises the threshold of each next test so that the false discovery rate
holds for any number of tests, however they depend on one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import pi

from skillopt_sleep.config import GateSettings
from skillopt_sleep.model.proposal import Candidate

WINDOW = timedelta(days=30)
"""What counts as thirty nights."""

CALIBRATED_SHARE = 0.25
"""Measured false adoptions over the guaranteed bound; see docs/gate.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A candidate that reached the test.

    Attributes:
        at: When it first did.
        threshold: Evidence at which it would be adopted, > 1.
        adopted: Whether it was adopted.
    """

    at: datetime
    threshold: float
    adopted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The lifetime budget as it stands.

    Attributes:
        tests: Candidates that reached the test in the last thirty nights.
        bound: False adoptions that are guaranteed not to be exceeded on average.
        expected: False adoptions to expect, by calibration.
        budget: How many are allowed.
    """

    tests: int
    bound: float
    expected: float
    budget: float

    @property
    def sentence(self) -> str:
        """The line for every report."""
        return (
            f"false adoptions to expect over thirty nights: {self.expected:.2f}"
            f" of {self.budget:g} allowed (guaranteed at most {self.bound:.2f},"
            f" {self.tests} candidate{'' if self.tests == 1 else 's'} tested)"
        )

    def allows(self, threshold: float) -> bool:
        """Return whether one more test at ``threshold`` may lead to adoption without a human."""
        return self.expected + CALIBRATED_SHARE / threshold <= self.budget


def account(tests: Iterable[Trial], *, now: datetime, budget: float) -> Account:
    """Return the budget after these tests; those older than thirty nights do not count."""
    counted = [one for one in tests if now - one.at <= WINDOW]
    bound = sum(1.0 / one.threshold for one in counted)
    return Account(
        tests=len(counted), bound=bound, expected=CALIBRATED_SHARE * bound, budget=budget
    )


def e_lond(tests: Sequence[Trial], *, level: float) -> float:
    """Return the evidence the next test needs so that the false discovery rate stays at ``level``.

    Args:
        tests: All earlier tests, each at the threshold that this function gave.
        level: Share of false ones among the adopted, in (0, 1).
    """
    number = len(tests) + 1
    weight = 6.0 / (pi * number) ** 2
    adopted = sum(one.adopted for one in tests)
    return 1.0 / (level * weight * (adopted + 1))


def trial(candidate: Candidate, *, at: datetime, adopted: bool, settings: GateSettings) -> Trial:
    """Return what a judged candidate counts as.

    Args:
        candidate: With the gate's evidence.
        at: When it was judged.
        adopted: Whether it became live.
        settings: Those it was judged under; its rivals multiply the threshold.
    """
    rivals = candidate.evidence.rivals if candidate.evidence else 1
    return Trial(at=at, threshold=settings.adopt_at * rivals, adopted=adopted)


def tonight(settings: GateSettings, trials: Sequence[Trial], *, now: datetime) -> GateSettings:
    """Return the settings for the next test after these trials.

    A spent budget switches adoption without a human off; e-LOND raises the evidence that it takes.
    """
    match settings.lifetime:
        case "budget":
            spent = account(trials, now=now, budget=settings.lifetime_budget)
            allowed = settings.auto_adopt and spent.allows(settings.adopt_at)
            return settings.model_copy(update={"auto_adopt": allowed})
        case "e_lond":
            needed = e_lond(trials, level=settings.false_discovery_rate)
            return settings.model_copy(
                update={
                    "support_at": max(settings.support_at, needed),
                    "adopt_at": max(settings.adopt_at, needed),
                }
            )
