"""The hard caps of a night: reserved before each call, so that no more calls start than are paid.

One meter serves all backends of a night and all their threads. It makes no call.
"""

from __future__ import annotations

import threading
from datetime import datetime

from skillopt_sleep.config import BudgetSettings
from skillopt_sleep.errors import BudgetSpentError
from skillopt_sleep.model.prompt import Stage
from skillopt_sleep.model.usage import NO_USAGE, Usage
from skillopt_sleep.store.calls import CallStore
from skillopt_sleep.world import World


class Meter:
    """Counts what a night costs, per stage, and says when it may cost no more.

    Usage of an earlier, interrupted run of the same night counts too; seconds count from the
    meter's birth. Calls under way count as calls, so N calls never become N + 1; tokens and money
    are known only afterwards and may be exceeded by the calls under way.
    """

    def __init__(
        self, budget: BudgetSettings, calls: CallStore, world: World, *, night: str
    ) -> None:
        self._budget = budget
        self._calls = calls
        self._world = world
        self._night = night
        self._lock = threading.Lock()
        self._under_way = 0
        self._by_stage = calls.spent(night)
        self._begun = world.monotonic()
        self._month = calls.spent_since(_month_of(world.now())).dollars

    @property
    def caps_money(self) -> bool:
        """Whether the budget caps money, so that prices must be known."""
        return bool(self._budget.dollars or self._budget.month_dollars)

    @property
    def by_stage(self) -> dict[str, Usage]:
        """What the night has cost so far, by stage name."""
        with self._lock:
            return {stage.value: usage for stage, usage in self._by_stage.items()}

    @property
    def total(self) -> Usage:
        """What the night has cost so far."""
        with self._lock:
            return self._sum()

    def reserve(self) -> None:
        """Take leave for one call; follow with ``settle`` or ``release``.

        Raises:
            BudgetSpentError: A cap is reached.
        """
        with self._lock:
            self._check()
            self._under_way += 1

    def release(self) -> None:
        """Give back the leave for a call that was never made."""
        with self._lock:
            self._under_way -= 1

    def settle(self, stage: Stage, usage: Usage) -> None:
        """Count a call that was made, answered or not."""
        with self._lock:
            self._under_way -= 1
            self._add(stage, usage)
            self._month += usage.dollars
        self._calls.spend(usage, night=self._night, stage=stage, at=self._world.now())

    def count_cached(self, stage: Stage) -> None:
        """Count a call that the journal answered, for free."""
        with self._lock:
            self._add(stage, Usage(cached_calls=1))

    def _add(self, stage: Stage, usage: Usage) -> None:
        self._by_stage[stage] = self._by_stage.get(stage, NO_USAGE) + usage

    def _sum(self) -> Usage:
        return sum(self._by_stage.values(), NO_USAGE)

    def _check(self) -> None:
        spent = self._sum()
        budget = self._budget
        seconds = self._world.monotonic() - self._begun
        caps: tuple[tuple[str, str, float, float], ...] = (
            ("calls", "budget.calls", spent.calls + self._under_way, budget.calls),
            ("tokens", "budget.tokens", spent.tokens, budget.tokens),
            ("dollars", "budget.dollars", spent.dollars, budget.dollars),
            ("seconds", "budget.seconds", seconds, budget.seconds),
            ("dollars this month", "budget.month_dollars", self._month, budget.month_dollars),
        )
        for what, key, used, cap in caps:
            if cap and used >= cap:
                raise BudgetSpentError(
                    f"the budget of {cap:g} {what} is spent; raise {key!r} to go on", what=what
                )


def _month_of(now: datetime) -> datetime:
    return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
