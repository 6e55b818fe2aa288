"""How fast a provider lets us go, learned from the headers of its answers; waits for nobody itself.

Providers tell how many requests and tokens are left and when there will be more. As many requests
start as are left, those of other threads counted; the next would only earn a refusal.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Protocol, runtime_checkable

import regex

from skillopt_sleep.world import World

LONGEST_S = 120.0
"""No header makes us wait longer than this without asking again."""

_GRAIN_S = 0.001
"""A shorter wait is none."""

_REQUESTS, _TOKENS = ("requests",), ("tokens", "input-tokens", "output-tokens")
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
        self._under_way = 0
        self._left: int | None = None
        self._more_at = 0.0
        self._largest = 1

    def weigh(self, tokens: int) -> None:
        """Remember how many tokens a request took; the largest says how many more there may be."""
        with self._lock:
            self._largest = max(self._largest, tokens)

    def learn(self, headers: Mapping[str, str]) -> None:
        """Look at the headers of an answer."""
        now = self._world.now()
        with self._lock:
            told = [
                *((left, wait) for left, wait in _told(headers, _REQUESTS, now)),
                *((left // self._largest, wait) for left, wait in _told(headers, _TOKENS, now)),
            ]
            if not told:
                return
            left, wait = min(told, key=lambda one: (one[0], -one[1]))
            # Whether the others under way are in that number already is not known.
            left -= max(0, self._under_way - 1)
            clock = self._world.monotonic()
            # Answers overtake one another, so within one span of time the least number counts.
            if self._left is None or clock >= self._more_at or left < self._left:
                self._left = left
                self._more_at = clock + min(wait, LONGEST_S)

    def hold(self, seconds: float) -> None:
        """Let nobody ask for so many seconds."""
        with self._lock:
            self._not_before = max(self._not_before, self._world.monotonic() + seconds)

    def take(self) -> float:
        """Take leave for one request and return 0.0, or return the seconds to wait for one.

        Follow a leave with ``done``.
        """
        with self._lock:
            now = self._world.monotonic()
            if now < self._not_before - _GRAIN_S:
                return self._not_before - now
            if self._left is not None:
                if now >= self._more_at - _GRAIN_S:
                    self._left = None
                elif self._left <= 0:
                    return self._more_at - now
                else:
                    self._left -= 1
            self._under_way += 1
            return 0.0

    def done(self) -> None:
        """Say that a request is over, answered or not."""
        with self._lock:
            self._under_way -= 1


@runtime_checkable
class Paced(Protocol):
    """A backend that learns its provider's pace."""

    @property
    def pace(self) -> Pace:
        """What it has learned."""
        ...


def _told(
    headers: Mapping[str, str], kinds: tuple[str, ...], now: datetime
) -> Iterator[tuple[int, float]]:
    for remaining, reset in _FORMS:
        for kind in kinds:
            left = headers.get(remaining.format(kind), "").strip()
            wait = _seconds(headers.get(reset.format(kind), ""), now)
            if left.isdigit() and wait > 0:
                yield int(left), wait


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
