"""Asks the optimizer's model for advice in strict JSON and counts what it could not read.

It knows no stage's question; each stage brings its prompt and the shape of the answer.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import json_repair
from pydantic import BaseModel, ConfigDict, ValidationError

from skillopt_sleep.backends import Backend
from skillopt_sleep.errors import AnswersWantedError, BackendError, Fault
from skillopt_sleep.model.prompt import Message, Prompt, Reply
from skillopt_sleep.model.usage import NO_USAGE, Usage
from skillopt_sleep.pool import Cancel, run_all

_FATAL = frozenset({Fault.AUTH, Fault.BUDGET})
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL)


class Answer(BaseModel):
    """Base of the shapes that stages ask for; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


A = TypeVar("A", bound=Answer)


class Advisor:
    """The optimizer's model, asked in parallel.

    Attributes:
        misread: Questions that got no usable answer, per stage, even when asked again.
    """

    def __init__(self, backend: Backend, *, workers: int = 4, cancel: Cancel | None = None) -> None:
        self.misread: Counter[str] = Counter()
        self._backend = backend
        self._workers = workers
        self._cancel = cancel or Cancel()
        self._spent: dict[str, Usage] = {}
        self._lock = threading.Lock()

    @property
    def spent(self) -> Mapping[str, Usage]:
        """What was spent so far, per stage."""
        return {str(stage): used for stage, used in sorted(self._spent.items())}

    def ask(self, prompt: Prompt, shape: type[A]) -> A | None:
        """Return the answer to one question, or None if there is no usable one.

        Raises:
            BackendError: The model could not be asked at all.
        """
        return self.ask_all([prompt], shape)[0]

    def ask_all(self, prompts: Sequence[Prompt], shape: type[A]) -> list[A | None]:
        """Return the answers in the prompts' order; None where there is no usable one.

        Raises:
            AnswersWantedError: Prompts wait for somebody's answer; all were handed out.
            BackendError: The key is bad or the budget spent, or no prompt got any reply.
            CancelledError: Somebody asked to stop.
        """
        found = run_all(
            lambda prompt: self._one(prompt, shape),
            prompts,
            workers=self._workers,
            cancel=self._cancel,
        )
        waiting = [one for one in found if isinstance(one, AnswersWantedError)]
        if waiting:
            raise AnswersWantedError.together(waiting)
        silent = [one for one in found if isinstance(one, BackendError)]
        if silent and len(silent) == len(found):
            raise silent[0]
        answers = [None if isinstance(one, BackendError) else one for one in found]
        for prompt, answer in zip(prompts, answers, strict=True):
            self.misread[prompt.stage] += answer is None
        return answers

    def _one(self, prompt: Prompt, shape: type[A]) -> A | BackendError | None:
        self._cancel.check()
        try:
            reply = self._complete(prompt)
            trouble = ""
            for again in range(2):
                try:
                    return read(reply.text, shape)
                except ValueError as error:
                    trouble = str(error)
                if again == 0:
                    reply = self._complete(_told(prompt, reply.text, trouble))
        except BackendError as error:
            if error.fault in _FATAL:
                raise
            return error
        return None

    def _complete(self, prompt: Prompt) -> Reply:
        reply = self._backend.complete(prompt)
        with self._lock:
            self._spent[prompt.stage] = self._spent.get(prompt.stage, NO_USAGE) + reply.usage
        return reply


def read(text: str, shape: type[A]) -> A:
    """Return the answer that a model's words hold, mending JSON that is slightly off.

    Raises:
        ValueError: There is no JSON object of that shape in it.
    """
    fenced = _FENCED.search(text)
    body = fenced.group(1) if fenced and not text.lstrip().startswith("{") else text
    try:
        return shape.model_validate_json(body)
    except ValidationError:
        found: object = json_repair.loads(body)
    try:
        return shape.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the object"
        raise ValueError(f"{where}: {first['msg']}") from error


def _told(prompt: Prompt, words: str, trouble: str) -> Prompt:
    return replace(
        prompt,
        messages=(
            *prompt.messages,
            Message(role="assistant", text=words),
            Message(
                role="user",
                text=f"That could not be read ({trouble}). Answer again with the JSON object only.",
            ),
        ),
    )
