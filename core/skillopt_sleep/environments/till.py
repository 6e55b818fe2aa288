"""Pays the calls of an agent CLI to the meter, one by one, while the client runs.

What they cost is known only when the client has ended, so it is counted with the last of them:
caps of tokens and money may be exceeded by what one attempt costs.
"""

from __future__ import annotations

from dataclasses import replace

from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.model.prompt import Stage
from skillopt_sleep.model.usage import NO_USAGE, Usage


class Till:
    """Where one attempt pays; not safe from several threads at once."""

    def __init__(self, meter: Meter | None) -> None:
        self._meter = meter
        self._paid = 0
        self._open = False

    def toll(self) -> None:
        """Pay for one call that is about to be made.

        Raises:
            BudgetSpentError: A cap is reached.
        """
        if self._meter is None:
            return
        self._meter.reserve()
        if self._open:
            self._meter.settle(Stage.ATTEMPT, Usage(calls=1))
        self._open = True
        self._paid += 1

    def close(self, usage: Usage = NO_USAGE) -> None:
        """Count what all calls cost; ``usage.calls`` may be more than were paid one by one."""
        if self._meter is None or not self._open:
            return
        self._open = False
        unseen = max(0, usage.calls - self._paid)
        self._meter.settle(Stage.ATTEMPT, replace(usage, calls=1 + unseen))
