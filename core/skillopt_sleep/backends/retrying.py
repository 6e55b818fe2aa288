"""A backend that asks again where that can help, waits as it is told, and gives up in time.

All threads of one backend share its state: a wait that the provider asked for holds for all, a
bad key fails all, and a provider that is down is left alone for a while.
"""

from __future__ import annotations

import threading

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.pace import Pace
from skillopt_sleep.codec import digest
from skillopt_sleep.errors import RETRYABLE, BackendError, Fault
from skillopt_sleep.model.prompt import Prompt, Reply
from skillopt_sleep.pool import Cancel
from skillopt_sleep.world import World

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
LONGEST_OBEYED_S = 300.0
"""A provider that asks for a longer wait than this gets no further try."""
OUTAGES = 5
"""Calls given up in a row after which the provider counts as down."""
REST_S = 60.0
"""How long a provider that is down is left alone."""

_SLICE_S = 0.25


class RetryingBackend:
    """Asks another backend, up to ``retries`` further times; jitter follows from the prompt."""

    def __init__(
        self,
        inner: Backend,
        world: World,
        cancel: Cancel,
        *,
        retries: int,
        pace: Pace | None = None,
    ) -> None:
        """Wrap ``inner``; ``pace`` is what it has learned of its provider."""
        self._inner = inner
        self._world = world
        self._cancel = cancel
        self._retries = retries
        self._lock = threading.Lock()
        self._pace = pace or Pace(world)
        self._refused: BackendError | None = None
        self._outages = 0
        self._down_until = 0.0
        self.name = inner.name
        self.model = inner.model

    def complete(self, prompt: Prompt) -> Reply:
        """Return the inner backend's answer.

        Raises:
            CancelledError: Somebody asked to stop, also during a wait.
            BackendError: The last try's trouble, or that the provider is known to be down.
        """
        jitter = self._world.rng(digest(prompt.system, prompt.messages[-1].text, prompt.draw))
        tried = 0
        while True:
            self._look_first()
            while (wait := self._pace.take()) > 0:
                self._pause(wait)
            try:
                reply = self._ask(prompt)
            except BackendError as error:
                again_in = self._wait_s(error, tried, jitter.uniform(0.5, 1.0))
                if again_in is None:
                    self._give_up(error)
                    raise
                if error.fault is Fault.RATE:
                    self._pace.hold(again_in)
                else:
                    self._pause(again_in)
            else:
                with self._lock:
                    self._outages = 0
                return reply
            tried += 1

    def _ask(self, prompt: Prompt) -> Reply:
        try:
            return self._inner.complete(prompt)
        finally:
            self._pace.done()

    def _wait_s(self, error: BackendError, tried: int, jitter: float) -> float | None:
        # None means that no further try is worth it. What came back garbled gets one more.
        allowed = self._retries if error.retryable else 0
        if error.fault is Fault.MALFORMED:
            allowed = min(1, self._retries)
        asked = error.retry_after_s or 0.0
        if tried >= allowed or asked > LONGEST_OBEYED_S:
            return None
        return max(asked, jitter * min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0**tried))

    def _give_up(self, error: BackendError) -> None:
        with self._lock:
            if error.fault is Fault.AUTH:
                self._refused = error
            if error.fault in RETRYABLE:
                self._outages += 1
                if self._outages >= OUTAGES:
                    self._down_until = self._world.monotonic() + REST_S

    def _look_first(self) -> None:
        self._cancel.check()
        with self._lock:
            if self._refused is not None:
                raise BackendError(str(self._refused), fault=Fault.AUTH)
            if self._world.monotonic() < self._down_until:
                raise BackendError(
                    f"{self.name!r} failed {self._outages} calls in a row and is left alone for"
                    f" {REST_S:g} s; see whether it is up",
                    fault=Fault.OVERLOADED,
                )

    def _pause(self, seconds: float) -> None:
        left = seconds
        while left > 0:
            self._cancel.check()
            self._world.sleep(min(left, _SLICE_S))
            left -= _SLICE_S
        self._cancel.check()


_CONFORMS: type[Backend] = RetryingBackend
