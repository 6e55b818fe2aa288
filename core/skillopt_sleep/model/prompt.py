"""What a model is asked and what it answers, the same for every provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from skillopt_sleep.model.usage import NO_USAGE, Usage


class Stage(StrEnum):
    """Which part of the night asks; budgets and reports are kept per stage."""

    MINE = "mine"
    ATTEMPT = "attempt"
    JUDGE = "judge"
    REFLECT = "reflect"
    AGGREGATE = "aggregate"
    SELECT = "select"
    UPDATE = "update"
    SLOW = "slow"
    META = "meta"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation.

    Attributes:
        role: "user" or "assistant".
        text: The words.
    """

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request to a model.

    Attributes:
        stage: Which part of the night asks.
        system: Instructions, the stable prefix; may be "".
        messages: The conversation, oldest first, ending with the user.
        max_tokens: Most output tokens.
        temperature: In [0, 2], or None for the model's default.
        draw: 0-based number of a repeated rollout; equal prompts with different draws are
            different requests and are not answered from one cache entry.
        blind: Whether this concerns a held-out task, so that a person or agent who answers it
            must not be one who improves the skill.
    """

    stage: Stage
    messages: tuple[Message, ...]
    system: str = ""
    max_tokens: int = 4096
    temperature: float | None = None
    draw: int = 0
    blind: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Prompts that were handed to a provider together.

    Attributes:
        id: The provider's name of it.
        backend: What tells the backend that handed it in from any other.
        stages: Key of each prompt to the stage that asked.
    """

    id: str
    backend: str
    stages: Mapping[str, Stage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of a model.

    Attributes:
        text: The words; never empty (an empty answer is a ``BackendError``).
        model: Model id as the provider names it.
        usage: What it cost.
        seconds: Wall time of the call.
        cached: Whether it came from the journal.
    """

    text: str
    model: str
    usage: Usage = NO_USAGE
    seconds: float = 0.0
    cached: bool = False
