"""A backend whose every request is allowed by a meter first and counted by it afterwards."""

from __future__ import annotations

from dataclasses import replace

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.backends.prices import Price, priced
from skillopt_sleep.errors import AnswersWantedError, BackendError
from skillopt_sleep.model.prompt import Prompt, Reply
from skillopt_sleep.model.usage import Usage


class MeteredBackend:
    """Asks another backend, within the budget; a failed request counts as a call."""

    def __init__(self, inner: Backend, meter: Meter, price: Price | None) -> None:
        self._inner = inner
        self._meter = meter
        self._price = price
        self.name = inner.name
        self.model = inner.model

    def complete(self, prompt: Prompt) -> Reply:
        """Return the inner backend's answer with its price.

        Raises:
            BudgetSpentError: Nothing more may be spent; no request was made.
            BackendError: As the inner backend.
        """
        self._meter.reserve()
        try:
            reply = self._inner.complete(prompt)
        except AnswersWantedError:
            self._meter.release()
            raise
        except BackendError as error:
            self._meter.settle(prompt.stage, self._lost(error))
            raise
        except BaseException:
            self._meter.release()
            raise
        usage = priced(reply.usage, self._price)
        self._meter.settle(prompt.stage, usage)
        return replace(reply, usage=usage)

    def _lost(self, error: BackendError) -> Usage:
        lost = Usage(calls=1, input_tokens=error.input_tokens, output_tokens=error.output_tokens)
        return priced(lost, self._price) if lost.tokens else lost


_CONFORMS: type[Backend] = MeteredBackend
