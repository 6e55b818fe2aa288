"""How fast a provider lets us go, learned from the headers of its answers; waits for nobody itself.

Providers tell how many requests and tokens are left and when there will be more. When nothing is
left, asking earlier would only earn a refusal.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Protocol, runtime_checkable

import regex

from skillopt_sleep.world import World

LONGEST_S = 120.0
"""No header makes us wait longer than this without asking again."""

_KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
_FORMS = (
    ("x-ratelimit-remaining-{}", "x-ratelimit-reset-{}"),
    ("anthropic-ratelimit-{}-remaining", "anthropic-ratelimit-{}-reset"),
)
_PART = regex.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Pace:
    """When the provider may be asked again; shared by all threads of one backend."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._lock = threading.Lock()
        self._not_before = 0.0

    def learn(self, headers: Mapping[str, str]) -> None:
        """Look at the headers of an answer."""
        waits = [
            _seconds(headers.get(reset.format(kind), ""), self._world.now())
            for remaining, reset in _FORMS
            for kind in _KINDS
            if headers.get(remaining.format(kind), "").strip() == "0"
        ]
        if waits:
            self.hold(min(max(waits), LONGEST_S))

    def hold(self, seconds: float) -> None:
        """Let nobody ask for so many seconds."""
        with self._lock:
            self._not_before = max(self._not_before, self._world.monotonic() + seconds)

    def wait_s(self) -> float:
        """Return the seconds to wait before the next request, >= 0."""
        with self._lock:
            return max(0.0, self._not_before - self._world.monotonic())


@runtime_checkable
class Paced(Protocol):
    """A backend that learns its provider's pace."""

    @property
    def pace(self) -> Pace:
        """What it has learned."""
        ...


def _seconds(text: str, now: datetime) -> float:
    # "6m0s" and "20ms" from some, plain seconds from others, an instant from yet others.
    parts = _PART.findall(text)
    if parts and "T" not in text:
        return sum(float(number) * _UNIT_S[unit] for number, unit in parts)
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, (datetime.fromisoformat(text) - now).total_seconds())
    except (ValueError, TypeError):
        return 0.0
