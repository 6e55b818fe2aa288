"""The hard caps of a night and of a month: reserved before each call, counted after it.

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

_Cap = tuple[str, str, float, float]


class Meter:
    """Counts what a night costs, per stage, and says when it may cost no more.

    Usage of an earlier, interrupted run of the same night counts too, its seconds included. Calls
    under way count as calls, so N calls never become N + 1; their tokens and money are known only
    afterwards, so those caps may be exceeded by the calls under way, less what was expected of
    them when they were reserved.
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
        self._expected = NO_USAGE
        self._by_stage = calls.spent(night)
        self._looked_at = world.monotonic()
        self._month = calls.spent_since(_month_of(world.now()))

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

    def reserve(self, expected: Usage = NO_USAGE) -> None:
        """Take leave for one call; follow with ``settle`` or ``release`` and the same ``expected``.

        Args:
            expected: The most that it may cost, where many are reserved at once.

        Raises:
            BudgetSpentError: A cap is reached.
        """
        with self._lock:
            self._check()
            self._start(expected)

    def readmit(self, expected: Usage = NO_USAGE) -> None:
        """Count a call as under way that an earlier run of the night had leave for."""
        with self._lock:
            self._start(expected)

    def release(self, expected: Usage = NO_USAGE) -> None:
        """Give back the leave for a call that was never made."""
        with self._lock:
            self._end(expected)

    def settle(self, stage: Stage, usage: Usage, *, expected: Usage = NO_USAGE) -> None:
        """Count a call that was made, answered or not."""
        with self._lock:
            self._end(expected)
            now = self._world.monotonic()
            usage += Usage(seconds=now - self._looked_at)
            self._looked_at = now
            self._add(stage, usage)
            self._month += usage
        self._calls.spend(usage, night=self._night, stage=stage, at=self._world.now())

    def count_cached(self, stage: Stage) -> None:
        """Count a call that the journal answered, for free."""
        with self._lock:
            self._add(stage, Usage(cached_calls=1))

    def check_time(self) -> None:
        """Return while there is time left, of the night and of the month.

        Raises:
            BudgetSpentError: There is none.
        """
        with self._lock:
            _raise_if_spent(self._times(self._sum()))

    def _start(self, expected: Usage) -> None:
        self._under_way += 1
        self._expected += expected

    def _end(self, expected: Usage) -> None:
        self._under_way -= 1
        self._expected += Usage(input_tokens=-expected.tokens, dollars=-expected.dollars)

    def _add(self, stage: Stage, usage: Usage) -> None:
        self._by_stage[stage] = self._by_stage.get(stage, NO_USAGE) + usage

    def _sum(self) -> Usage:
        return sum(self._by_stage.values(), NO_USAGE)

    def _check(self) -> None:
        spent, month, due = self._sum(), self._month, self._expected
        cap = self._budget
        _raise_if_spent(
            (
                ("calls", "calls", spent.calls + self._under_way, cap.calls),
                ("tokens", "tokens", spent.tokens + due.tokens, cap.tokens),
                ("dollars", "dollars", spent.dollars + due.dollars, cap.dollars),
                *self._times(spent),
                *(
                    (f"{what} this month", f"month_{what}", used, most)
                    for what, used, most in (
                        ("calls", month.calls + self._under_way, cap.month_calls),
                        ("tokens", month.tokens + due.tokens, cap.month_tokens),
                        ("dollars", month.dollars + due.dollars, cap.month_dollars),
                    )
                ),
            )
        )

    def _times(self, spent: Usage) -> tuple[_Cap, ...]:
        passing = self._world.monotonic() - self._looked_at
        month = self._month.seconds + passing
        cap = self._budget
        return (
            ("seconds", "seconds", spent.seconds + passing, cap.seconds),
            ("seconds this month", "month_seconds", month, cap.month_seconds),
        )


def _raise_if_spent(caps: tuple[_Cap, ...]) -> None:
    for what, key, used, cap in caps:
        if cap and used >= cap:
            raise BudgetSpentError(
                f"the budget of {cap:g} {what} is spent; raise 'budget.{key}' to go on", what=what
            )


def _month_of(now: datetime) -> datetime:
    return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
