"""A backend that answers from the journal what has been answered before."""

from __future__ import annotations

import threading
from dataclasses import replace

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.codec import digest
from skillopt_sleep.model.prompt import Prompt, Reply, Stage
from skillopt_sleep.store.calls import CallStore
from skillopt_sleep.world import World

EVERGREEN = frozenset({Stage.MINE, Stage.JUDGE})
"""Stages whose answer depends on the prompt alone and holds for later nights too; all others are
drawn anew each night."""


class CachedBackend:
    """Asks another backend once per prompt, draw and night, also when threads ask together.

    An answer found counts as a call saved once, however often a night comes back to it. A journaled
    reply keeps the usage it had when it was paid for, and is marked ``cached``.
    """

    def __init__(
        self,
        inner: Backend,
        calls: CallStore,
        meter: Meter,
        world: World,
        *,
        identity: str,
        night: str,
    ) -> None:
        """Wrap ``inner``.

        Args:
            inner: Who is asked where the journal has no answer.
            calls: The journal.
            meter: Told of every call that the journal answered.
            world: Clock.
            identity: What tells this provider, model and its options from any other.
            night: Id of the night.
        """
        self._inner = inner
        self._calls = calls
        self._meter = meter
        self._world = world
        self._identity = identity
        self._night = night
        self._lock = threading.Lock()
        self._asking: dict[str, threading.Lock] = {}
        self._told: set[str] = set()
        self.name = inner.name
        self.model = inner.model

    def complete(self, prompt: Prompt) -> Reply:
        """Return the journaled answer, or ask for one and journal it."""
        key = self.key(prompt)
        with self._lock:
            mine = self._asking.setdefault(key, threading.Lock())
        try:
            with mine:
                return self._answer(key, prompt)
        finally:
            with self._lock:
                self._asking.pop(key, None)

    def key(self, prompt: Prompt) -> str:
        """Return the hash of all that the answer may depend on."""
        night = "" if prompt.stage in EVERGREEN else self._night
        messages = [(one.role, one.text) for one in prompt.messages]
        return digest(
            (self._identity, night, prompt.stage.value),
            (prompt.system, messages, prompt.max_tokens, prompt.temperature, prompt.draw),
        )

    def knows(self, key: str) -> bool:
        """Return whether the journal has an answer."""
        return self._calls.reply(key) is not None

    def bring(self, key: str, reply: Reply, stage: Stage) -> None:
        """Journal an answer that was paid for and came another way."""
        self._told.add(key)
        self._calls.keep(key, reply, night=self._night, stage=stage, at=self._world.now())

    def _answer(self, key: str, prompt: Prompt) -> Reply:
        known = self._calls.reply(key)
        if known is not None:
            if key not in self._told:
                self._told.add(key)
                self._meter.count_cached(prompt.stage)
            return replace(known, cached=True)
        reply = self._inner.complete(prompt)
        self._calls.keep(key, reply, night=self._night, stage=prompt.stage, at=self._world.now())
        return reply


_CONFORMS: type[Backend] = CachedBackend
