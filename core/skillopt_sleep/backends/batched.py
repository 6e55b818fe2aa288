"""Overnight prices: what a night asks is gathered, handed in together and waited for.

A prompt that can wait is refused at first, as one that waits for a person is, so that a whole
stage gathers. Then all of them go to the provider's batch endpoint, their answers into the
journal, and the night is gone through once more. It knows no provider's format.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol, runtime_checkable

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.backends.cached import CachedBackend
from skillopt_sleep.backends.prices import BATCH, Price, priced
from skillopt_sleep.errors import (
    AnswersWantedError,
    BackendError,
    BudgetSpentError,
    Fault,
)
from skillopt_sleep.model.prompt import Batch, Prompt, Reply, Stage
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.pool import Cancel
from skillopt_sleep.store.calls import CallStore
from skillopt_sleep.world import World

CAN_WAIT = frozenset({Stage.ATTEMPT, Stage.JUDGE, Stage.REFLECT})
"""Stages that ask much at once; the others ask one thing after the other."""

LARGEST = 5000
"""Prompts in one batch."""

FIRST_LOOK_S = 5.0
LONGEST_LOOK_S = 120.0

_TRIES = 4
_LOOKS_IN_VAIN = 30
"""Looks in a row that found the provider down, the better part of an hour, after which to stop."""
_SLICE_S = 0.25
_UNTAKEN = frozenset({Fault.RATE, Fault.OVERLOADED, Fault.SERVER})
_CHARACTERS_PER_TOKEN = 3


@runtime_checkable
class BatchProvider(Protocol):
    """A backend whose provider takes many prompts together.

    Attributes:
        batches: Whether this provider does.
    """

    @property
    def batches(self) -> bool:
        """Whether this provider does."""
        ...

    def submit(self, wanted: Mapping[str, Prompt]) -> str:
        """Hand prompts in, each under a key of at most 64 letters and digits; return a name.

        Raises:
            BackendError: They were not taken.
        """
        ...

    def collect(self, batch: str) -> Mapping[str, Reply | BackendError] | None:
        """Return what came of each prompt, or None while the provider is at work.

        Raises:
            BackendError: Nothing is known of the batch just now, or it was refused as a whole.
        """
        ...

    def cancel(self, batch: str) -> None:
        """Tell the provider that no answers are wanted any more.

        Raises:
            BackendError: It cannot be told.
        """
        ...


class BatchedBackend:
    """Answers from the journal, and gathers what the journal does not know."""

    def __init__(
        self,
        inner: CachedBackend,
        provider: BatchProvider,
        price: Price | None,
        *,
        identity: str,
        stages: frozenset[Stage],
    ) -> None:
        """Wrap ``inner``.

        Args:
            inner: The journal, and who is asked at once for what cannot wait.
            provider: Who takes batches.
            price: List price, or None where it is unknown.
            identity: What tells this provider, model and its options from any other.
            stages: Stages that wait.
        """
        self.name = inner.name
        self.model = inner.model
        self.inner = inner
        self.provider = provider
        self.price = price
        self.identity = identity
        self._stages = stages
        self._lock = threading.Lock()
        self._wanted: dict[str, Prompt] = {}
        self._failed: dict[str, BackendError] = {}

    def complete(self, prompt: Prompt) -> Reply:
        """Return the journaled answer.

        Raises:
            AnswersWantedError: There is none yet; the prompt goes with the next batch.
            BackendError: What came of it in a batch, or as the inner backend.
        """
        key = self.inner.key(prompt)
        if prompt.stage not in self._stages or self.inner.knows(key):
            return self.inner.complete(prompt)
        with self._lock:
            if key in self._failed:
                raise self._failed[key]
            self._wanted[key] = prompt
        raise AnswersWantedError(
            "a prompt waits for the next batch; run again to go on", folder="", waiting=1
        )

    def gathered(self) -> dict[str, Prompt]:
        """Return what waits, by key and in its order, and forget it."""
        with self._lock:
            found = dict(sorted(self._wanted.items()))
            self._wanted.clear()
        return found

    def fail(self, key: str, error: BackendError) -> None:
        """Remember that a prompt has no answer tonight."""
        with self._lock:
            self._failed[key] = error


class Batches:
    """All batches of one night: handed in once, also over a kill, and waited for together.

    Attributes:
        stages: Stages whose prompts gather.
    """

    def __init__(
        self,
        calls: CallStore,
        meter: Meter,
        world: World,
        cancel: Cancel,
        *,
        night: str,
        stages: frozenset[Stage] = CAN_WAIT,
    ) -> None:
        self.stages = stages
        self._calls = calls
        self._meter = meter
        self._world = world
        self._cancel = cancel
        self._night = night
        self._backends: list[BatchedBackend] = []
        self._expected: dict[str, Usage] = {}
        self._resumed = False
        self._in_vain = 0

    def add(self, backend: BatchedBackend) -> None:
        """Take part in batches from now on."""
        self._backends.append(backend)

    def flush(self) -> bool:
        """Hand in what waits, wait for the answers, journal them; return whether anything waited.

        Raises:
            BudgetSpentError: Nothing may be handed in, or the time is up.
            BackendError: A provider takes no batch, or refused one as a whole.
            CancelledError: Somebody asked to stop; what is handed in is found again.
        """
        at_work = self._found_again()
        known = {key for _, batch in at_work for key in batch.stages}
        for backend in self._backends:
            wanted = {k: p for k, p in backend.gathered().items() if k not in known}
            if wanted and (batch := self._hand_in(backend, wanted)):
                at_work.append((backend, batch))
        if not at_work:
            return False
        wait = FIRST_LOOK_S
        while at_work := [pair for pair in at_work if not self._taken_back(*pair)]:
            self._pause(wait, at_work)
            wait = min(LONGEST_LOOK_S, wait * 1.5)
        return True

    def _found_again(self) -> list[tuple[BatchedBackend, Batch]]:
        if self._resumed:
            return []
        self._resumed = True
        found: list[tuple[BatchedBackend, Batch]] = []
        for batch in self._calls.batches(self._night):
            owner = next((one for one in self._backends if one.identity == batch.backend), None)
            if owner is not None:
                found.append((owner, batch))
                for _ in batch.stages:
                    self._meter.readmit()
        return found

    def _hand_in(self, backend: BatchedBackend, wanted: Mapping[str, Prompt]) -> Batch | None:
        allowed: dict[str, Prompt] = {}
        spent: BudgetSpentError | None = None
        for key, prompt in list(wanted.items())[:LARGEST]:
            likely = _at_most(prompt, backend.price)
            try:
                self._meter.reserve(likely)
            except BudgetSpentError as error:
                spent = error
                break
            self._expected[key] = likely
            allowed[key] = prompt
        if not allowed:
            if spent is not None:
                raise spent
            return None
        try:
            name = self._submitted(backend, allowed)
        except BaseException:
            for key in allowed:
                self._meter.release(self._expected.pop(key))
            raise
        stages = {key: prompt.stage for key, prompt in allowed.items()}
        batch = Batch(id=name, backend=backend.identity, stages=stages)
        self._calls.keep_batch(batch, night=self._night)
        return batch

    def _taken_back(self, backend: BatchedBackend, batch: Batch) -> bool:
        answers = self._looked(backend, batch)
        if answers is None:
            return False
        for key, stage in batch.stages.items():
            expected = self._expected.pop(key, Usage())
            if backend.inner.knows(key):
                self._meter.release(expected)
                continue
            answer = answers.get(key) or _missing(batch)
            usage = priced(_usage(answer), backend.price, share=BATCH)
            self._meter.settle(stage, usage, expected=expected)
            if isinstance(answer, Reply):
                backend.inner.bring(key, replace(answer, usage=usage), stage)
            else:
                backend.fail(key, answer)
        self._calls.drop_batch(batch, night=self._night)
        return True

    def _submitted(self, backend: BatchedBackend, prompts: Mapping[str, Prompt]) -> str:
        tried = 0
        while True:
            try:
                return backend.provider.submit(prompts)
            except BackendError as error:
                tried += 1
                if error.fault not in _UNTAKEN or tried == _TRIES:
                    raise
                self._sleep(max(error.retry_after_s or 0.0, FIRST_LOOK_S * 2.0**tried))

    def _looked(
        self, backend: BatchedBackend, batch: Batch
    ) -> Mapping[str, Reply | BackendError] | None:
        try:
            answers = backend.provider.collect(batch.id)
        except BackendError as error:
            if not error.retryable:
                return dict.fromkeys(batch.stages, error)
            self._in_vain += 1
            if self._in_vain == _LOOKS_IN_VAIN:
                raise
            return None
        self._in_vain = 0
        return answers

    def _pause(self, seconds: float, at_work: Iterable[tuple[BatchedBackend, Batch]]) -> None:
        self._sleep(seconds)
        try:
            self._meter.check_time()
        except BudgetSpentError:
            for backend, batch in at_work:
                backend.provider.cancel(batch.id)
                self._calls.drop_batch(batch, night=self._night)
            raise

    def _sleep(self, seconds: float) -> None:
        left = seconds
        while left > 0:
            self._cancel.check()
            self._world.sleep(min(left, _SLICE_S))
            left -= _SLICE_S
        self._cancel.check()


def _at_most(prompt: Prompt, price: Price | None) -> Usage:
    characters = len(prompt.system) + sum(len(one.text) for one in prompt.messages)
    usage = Usage(
        calls=1,
        input_tokens=characters // _CHARACTERS_PER_TOKEN,
        output_tokens=prompt.max_tokens,
    )
    return priced(usage, price, share=BATCH)


def _usage(answer: Reply | BackendError) -> Usage:
    if isinstance(answer, Reply):
        return answer.usage
    return Usage(calls=1, input_tokens=answer.input_tokens, output_tokens=answer.output_tokens)


def _missing(batch: Batch) -> BackendError:
    return BackendError(
        f"the batch {batch.id!r} came back without an answer to one of its prompts; run again",
        fault=Fault.MALFORMED,
    )


_CONFORMS: type[Backend] = BatchedBackend
