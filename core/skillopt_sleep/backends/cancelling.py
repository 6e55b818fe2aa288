"""A backend that a cancel gets out of, also while the provider hangs; for calls outside a batch."""

from __future__ import annotations

from skillopt_sleep.backends import Backend
from skillopt_sleep.model.prompt import Prompt, Reply
from skillopt_sleep.pool import Cancel, run_all


class CancellingBackend:
    """Asks another backend in the pool, which lets go of a hanging call once cancelled."""

    def __init__(self, inner: Backend, cancel: Cancel) -> None:
        self._inner = inner
        self._cancel = cancel
        self.name = inner.name
        self.model = inner.model

    def complete(self, prompt: Prompt) -> Reply:
        """Return the inner backend's answer.

        Raises:
            CancelledError: Somebody asked to stop.
            BackendError: As the inner backend.
        """
        (reply,) = run_all(self._inner.complete, [prompt], workers=1, cancel=self._cancel)
        return reply


_CONFORMS: type[Backend] = CancellingBackend
